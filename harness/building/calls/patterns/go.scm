(call_expression function: (identifier) @call)
(call_expression function: (selector_expression operand: (_) @owner field: (_) @call))

(import_spec name: (_)? @alias path: (_) @module)

(parameter_declaration name: (_) @binds)
(var_spec name: (_) @binds)
(short_var_declaration left: (_) @binds)
(range_clause left: (_) @binds)

(parameter_declaration name: (_) @variable type: (_) @type)
(var_spec name: (_) @variable type: (_) @type)
(short_var_declaration
  left: (expression_list . (identifier) @variable .)
  right: (expression_list . [
    (composite_literal type: (_) @type)
    (unary_expression operand: (composite_literal type: (_) @type))]))
