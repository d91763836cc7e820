(function_call_expression function: (name) @call)
(member_call_expression object: (_) @owner name: (_) @call)
(scoped_call_expression scope: (_) @owner name: (_) @call)
(object_creation_expression . (name) @call)

(namespace_definition name: (_) @package)
(namespace_use_declaration
  (namespace_use_clause [(qualified_name) (name)] @module alias: (_)? @alias))

[(formal_parameters) (catch_clause)] @binds
(assignment_expression left: (_) @binds)
(foreach_statement (variable_name) @binds)
(foreach_statement (pair) @binds)

(simple_parameter type: (_) @type name: (_) @variable)
(assignment_expression left: (_) @variable right: (object_creation_expression . (_) @type))

(class_declaration (base_clause (_) @base)) @class
