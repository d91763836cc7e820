(call_expression . (identifier) @call)
(call_expression . (navigation_expression (_) @owner (identifier) @call .))

(package_header (_) @package)
(import (qualified_identifier) @module .)
(import (qualified_identifier) @module (identifier) @alias)
(import (qualified_identifier) @module "*" @all)

(parameter (identifier) @binds)
(class_parameter (identifier) @binds)
(variable_declaration (identifier) @binds)

(parameter . (identifier) @variable . (_) @type)
(class_parameter (identifier) @variable . (_) @type)
(variable_declaration . (identifier) @variable . (_) @type)

(property_declaration
  (variable_declaration . (identifier) @variable .) (call_expression . (identifier) @type))

(class_declaration
  (delegation_specifiers (delegation_specifier (constructor_invocation . (_) @base)))) @class
