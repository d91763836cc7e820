(call_expression function: (qualified_identifier scope: (_) @owner name: (identifier) @call))
(call_expression function: (template_function name: (identifier) @call))
(class_specifier name: (_) @declares body: (_))
(struct_specifier name: (_) @declares body: (_))

(for_range_loop declarator: (_) @binds)

(parameter_declaration
  type: (_) @type
  declarator: [(identifier) @variable (_ (identifier) @variable)])
(field_declaration
  type: (_) @type
  declarator: [(field_identifier) @variable (_ (field_identifier) @variable)])
(declaration
  type: [(type_identifier) (qualified_identifier) (template_type)] @type
  declarator: [
    (identifier) @variable
    (pointer_declarator (identifier) @variable)
    (reference_declarator (identifier) @variable)
    (init_declarator declarator: (identifier) @variable)
    (init_declarator declarator: (_ (identifier) @variable))])

(class_specifier (base_class_clause (type_identifier) @base)) @class
