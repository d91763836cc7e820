(call_expression function: (identifier) @call)
(call_expression function: (field_expression value: (_) @owner field: (_) @call))
(instance_expression . (type_identifier) @call)

(package_clause name: (_) @package)
(import_declaration path: (_)+ @module .)
(import_declaration path: (_)+ @module (namespace_wildcard) @all)
(import_declaration path: (_)+ @module (namespace_selectors (identifier) @name))

(parameter name: (_) @binds)
(class_parameter name: (_) @binds)
(val_definition pattern: (_) @binds)
(var_definition pattern: (_) @binds)
(lambda_expression parameters: (_) @binds)
(enumerator . (_) @binds)

(parameter name: (_) @variable type: (_) @type)
(class_parameter name: (_) @variable type: (_) @type)
(val_definition pattern: (identifier) @variable type: (_) @type)
(val_definition pattern: (identifier) @variable !type value: (instance_expression . (_) @type))

(class_definition extend: (extends_clause type: (_) @base)) @class
