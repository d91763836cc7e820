(call_expression function: (identifier) @call)
(call_expression function: (member_expression object: (_) @owner property: (_) @call))
(new_expression constructor: (identifier) @call)
(new_expression constructor: (member_expression object: (_) @owner property: (_) @call))

(import_statement (import_clause (identifier) @alias) source: (_) @module) @default
(import_statement (import_clause (namespace_import (_) @alias)) source: (_) @module)
(import_statement
  (import_clause (named_imports (import_specifier name: (_) @name alias: (_)? @alias)))
  source: (_) @module)
(export_statement
  (export_clause (export_specifier name: (_) @name alias: (_)? @alias)) source: (_) @module)
(export_statement "*" @all source: (_) @module)
(variable_declarator
  name: (identifier) @alias
  value: (call_expression function: (_) @_f arguments: (arguments . (string) @module))
  (#eq? @_f "require")) @default
(variable_declarator
  name: (identifier) @alias
  value: (member_expression
    object: (call_expression function: (_) @_f arguments: (arguments . (string) @module))
    property: (_) @name)
  (#eq? @_f "require"))
(variable_declarator
  name: (object_pattern
    [(shorthand_property_identifier_pattern) @name
     (pair_pattern key: (_) @name value: (identifier) @alias)])
  value: (call_expression function: (_) @_f arguments: (arguments . (string) @module))
  (#eq? @_f "require"))

(formal_parameters) @binds
(arrow_function parameter: (_) @binds)
(variable_declarator name: (_) @binds)
(assignment_expression left: (_) @binds)
(for_in_statement left: (_) @binds)
(catch_clause parameter: (_) @binds)

(variable_declarator name: (identifier) @variable value: (new_expression constructor: (_) @type))
(assignment_expression left: (_) @variable right: (new_expression constructor: (_) @type))

(program (lexical_declaration (variable_declarator name: (identifier) @constant)) @declaration)
(program
  (export_statement
    (lexical_declaration (variable_declarator name: (identifier) @constant))) @declaration)
