(call_expression function: (identifier) @call)
(call_expression function: (field_expression argument: (_) @owner field: (_) @call))

(preproc_include path: (_) @module)
(function_declarator declarator: (_) @declares)

(parameter_declaration declarator: (_) @binds)
(declaration declarator: [(identifier) (pointer_declarator) (array_declarator)] @binds)
(init_declarator declarator: (_) @binds)
