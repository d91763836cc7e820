(call_expression . (simple_identifier) @call)
(call_expression
  . (navigation_expression target: (_) @owner suffix: (navigation_suffix suffix: (_) @call)))

(import_declaration (identifier) @module)

(parameter name: (simple_identifier) @binds)
(pattern bound_identifier: (_) @binds)

(parameter name: (simple_identifier) @variable (user_type) @type)
(property_declaration
  name: (pattern bound_identifier: (_) @variable) (type_annotation (_) @type))
(property_declaration
  name: (pattern bound_identifier: (_) @variable)
  value: (call_expression . (simple_identifier) @type))

(class_declaration (inheritance_specifier inherits_from: (_) @base)) @class
