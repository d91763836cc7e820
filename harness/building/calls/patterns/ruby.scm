(call !receiver method: (_) @call)
(call receiver: (_) @owner method: (_) @call)
(call receiver: (constant) @call method: (_) @_new (#eq? @_new "new"))

(call
  method: (_) @_load arguments: (argument_list . (string) @module)
  (#any-of? @_load "require" "require_relative" "load"))

[(method_parameters) (block_parameters)] @binds
(assignment left: (_) @binds)

(assignment
  left: (_) @variable
  right: (call receiver: (_) @type method: (_) @_new)
  (#eq? @_new "new"))

(class superclass: (superclass (_) @base)) @class
