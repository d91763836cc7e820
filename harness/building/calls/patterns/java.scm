(method_invocation !object name: (_) @call)
(method_invocation object: (_) @owner name: (_) @call)
(object_creation_expression type: (type_identifier) @call)

(package_declaration (_) @package)
(import_declaration (_) @module .)
(import_declaration (_) @module (asterisk) @all)

(formal_parameter name: (_) @binds)
(variable_declarator name: (_) @binds)
(catch_formal_parameter name: (_) @binds)
(enhanced_for_statement name: (_) @binds)
(lambda_expression parameters: (_) @binds)

(formal_parameter type: (_) @type name: (_) @variable)
(field_declaration type: (_) @type declarator: (variable_declarator name: (_) @variable))
(local_variable_declaration type: (_) @type declarator: (variable_declarator name: (_) @variable))

(class_declaration superclass: (superclass (_) @base)) @class
