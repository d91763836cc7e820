(call_expression function: (identifier) @call)
(call_expression function: (scoped_identifier path: (_) @owner name: (_) @call))
(call_expression function: (field_expression value: (_) @owner field: (_) @call))
(generic_function function: (identifier) @call)
(generic_function function: (scoped_identifier path: (_) @owner name: (_) @call))
(generic_function function: (field_expression value: (_) @owner field: (_) @call))

(use_declaration argument: (_) @use)

[(parameters) (closure_parameters)] @binds
(let_declaration pattern: (_) @binds)
(let_condition pattern: (_) @binds)
(for_expression pattern: (_) @binds)
(match_pattern) @binds

(parameter pattern: (_) @variable type: (_) @type)
(let_declaration pattern: (_) @variable type: (_) @type)
(let_declaration pattern: (_) @variable !type value: (struct_expression name: (_) @type))
(let_declaration
  pattern: (_) @variable !type
  value: (call_expression function: (scoped_identifier path: (_) @type name: (_) @_n))
  (#eq? @_n "new"))
