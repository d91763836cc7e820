(invocation_expression function: [(identifier) @call (generic_name . (identifier) @call)])
(invocation_expression
  function: (member_access_expression
    expression: (_) @owner name: [(identifier) @call (generic_name . (identifier) @call)]))
(object_creation_expression type: (identifier) @call)

(namespace_declaration name: (_) @package)
(file_scoped_namespace_declaration name: (_) @package)
(using_directive "using" . (qualified_name) @module @all)

(parameter name: (_) @binds)
(variable_declarator name: (_) @binds)
(foreach_statement left: (_) @binds)
(property_declaration name: (_) @binds)
(lambda_expression parameters: (_) @binds)

(parameter type: (_) @type name: (_) @variable)
(property_declaration type: (_) @type name: (_) @variable)
(variable_declaration type: (_) @type (variable_declarator name: (_) @variable))
(variable_declaration
  type: (implicit_type)
  (variable_declarator name: (_) @variable (object_creation_expression type: (_) @type)))

(class_declaration (base_list . (_) @base)) @class
