(field_definition property: (_) @field value: (new_expression constructor: (_) @type))

(class_declaration (class_heritage (_) @base)) @class
