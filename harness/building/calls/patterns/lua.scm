(function_call name: (identifier) @call)
(function_call name: (dot_index_expression table: (_) @owner field: (_) @call))
(function_call name: (method_index_expression table: (_) @owner method: (_) @call))

(function_call
  name: (_) @_load arguments: (arguments . (string) @module)
  (#any-of? @_load "require" "dofile"))
(assignment_statement
  (variable_list . name: (_) @alias .)
  (expression_list
    . value: (function_call name: (_) @_load arguments: (arguments . (string) @module)))
  (#eq? @_load "require")) @default

(parameters) @binds
(variable_list) @binds
(for_numeric_clause name: (_) @binds)
