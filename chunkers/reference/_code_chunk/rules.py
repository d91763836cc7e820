"""Which nodes of a language count as entities, and when a walk through the tree has seen one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

Kind = Literal["function", "method", "class", "interface", "type", "enum", "import", "export"]


@dataclass(frozen=True, slots=True)
class Rule:
    """What a node of some type is.

    Attributes:
        kind: What it becomes.
        until: The part that a walk must reach before the entity is known: the node `itself`, its
            `name`, the end of its `parameters`, a child of this type, or `group`, the end of the
            parenthesised group that it is a member of, else its name.
        parent: Type of node that it must stand in; empty for any.
        name: Type of its name; empty for any.
    """

    kind: Kind
    until: str = "name"
    parent: str = ""
    name: str = ""


_IMPORT = Rule("import", "itself")
_FUNCTION, _CALLED = Rule("function"), Rule("function", "parameters")
_METHOD = Rule("method", "parameters")
_CLASS, _INTERFACE, _TYPE, _ENUM = Rule("class"), Rule("interface"), Rule("type"), Rule("enum")

_TYPESCRIPT = {
    "function_declaration": _CALLED,
    "generator_function_declaration": _CALLED,
    "class_declaration": _CLASS,
    "abstract_class_declaration": _CLASS,
    "interface_declaration": _INTERFACE,
    "type_alias_declaration": _TYPE,
    "enum_declaration": _ENUM,
    "method_definition": Rule("method", "parameters", parent="class_body"),
    "import_statement": _IMPORT,
    "export_statement": Rule("export", "export_clause"),
}

#: Language -> type of node -> what it is.
RULES: Mapping[str, Mapping[str, Rule]] = {
    "python": {
        "class_definition": _CLASS,
        "function_definition": _FUNCTION,
        "import_statement": _IMPORT,
        "import_from_statement": _IMPORT,
    },
    "javascript": {
        "function_declaration": _FUNCTION,
        "generator_function_declaration": _FUNCTION,
        "class_declaration": _CLASS,
        "method_definition": Rule("method", parent="class_body", name="property_identifier"),
        "import_statement": _IMPORT,
        "export_statement": Rule("export", "itself"),
    },
    "typescript": _TYPESCRIPT,
    "tsx": _TYPESCRIPT,
    "rust": {
        "struct_item": _TYPE,
        "type_item": _TYPE,
        "enum_item": _ENUM,
        "trait_item": _INTERFACE,
        "impl_item": Rule("class", "itself"),
        "function_item": _FUNCTION,
        "use_declaration": _IMPORT,
    },
    "go": {
        "type_spec": Rule("type", "group"),
        "function_declaration": _CALLED,
        "method_declaration": _METHOD,
        "method_elem": _METHOD,
        "import_declaration": _IMPORT,
        # The original looks for "use" in a type's name to find imports.
        "package_clause": _IMPORT,
    },
    "java": {
        "class_declaration": _CLASS,
        "interface_declaration": _INTERFACE,
        "enum_declaration": _ENUM,
        "enum_constant": _ENUM,
        "annotation_type_declaration": _TYPE,
        "annotation_type_element_declaration": _TYPE,
        # It looks for "struct" to find types.
        "constructor_declaration": Rule("type", "parameters"),
        "method_declaration": _METHOD,
        "import_declaration": _IMPORT,
    },
}
