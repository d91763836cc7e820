(call function: (identifier) @call)
(call function: (attribute object: (_) @owner attribute: (_) @call))

(import_statement name: (dotted_name) @module)
(import_statement name: (aliased_import name: (_) @module alias: (_) @alias))
(import_from_statement module_name: (_) @module name: (dotted_name) @name)
(import_from_statement module_name: (_) @module name: (aliased_import name: (_) @name alias: (_) @alias))
(import_from_statement module_name: (_) @module (wildcard_import) @all)

[(parameters) (lambda_parameters) (as_pattern_target)] @binds
(assignment left: (_) @binds)
(named_expression name: (_) @binds)
(for_statement left: (_) @binds)
(for_in_clause left: (_) @binds)

(typed_parameter (identifier) @variable type: (_) @type)
(typed_default_parameter name: (_) @variable type: (_) @type)
(assignment left: (_) @variable type: (_) @type)
(assignment left: (_) @variable !type right: (call function: (_) @type))
(as_pattern (call function: (_) @type) alias: (as_pattern_target (identifier) @variable))

(class_definition
  body: (block (expression_statement (assignment left: (identifier) @field type: (_) @type))))

(class_definition superclasses: (argument_list (_) @base)) @class
