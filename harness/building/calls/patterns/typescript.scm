(required_parameter pattern: (identifier) @variable type: (type_annotation (_) @type))
(optional_parameter pattern: (identifier) @variable type: (type_annotation (_) @type))
(variable_declarator name: (identifier) @variable type: (type_annotation (_) @type))
(public_field_definition name: (_) @field type: (type_annotation (_) @type))

(public_field_definition name: (_) @field value: (new_expression constructor: (_) @type))

(class_declaration (class_heritage (extends_clause value: (_) @base))) @class
