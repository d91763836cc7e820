(command name: (command_name (word) @call))

(command
  name: (command_name) @_load . argument: (_) @module
  (#any-of? @_load "source" "."))
