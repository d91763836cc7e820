"""The grammars that are installed with this package, each from the wheel of its own project."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chunkers.grammars.model import BLOCKS, Grammar, kinds, words

if TYPE_CHECKING:
    from collections.abc import Mapping

_SCRIPT_FUNCTIONS = words("function_declaration generator_function_declaration method_definition")
_SCRIPT_VALUES = words("arrow_function function_expression generator_function")
_SCRIPT_CARRIERS = words(
    "variable_declarator assignment_expression pair field_definition public_field_definition"
)
_SCRIPT_WRAPPERS = words(
    "export_statement lexical_declaration variable_declaration expression_statement"
)
_TYPESCRIPT_SCOPES = words(
    "class_declaration abstract_class_declaration interface_declaration enum_declaration"
    " internal_module module"
)
_STRUCTS = words("struct_specifier union_specifier enum_specifier")

BUNDLED: Mapping[str, Grammar] = {
    "bash": Grammar(
        module="tree_sitter_bash",
        definitions=words("function_definition"),
        blocks=("compound_statement", "do_group", "subshell"),
    ),
    "c": Grammar(module="tree_sitter_c", definitions=words("function_definition"), scopes=_STRUCTS),
    "cpp": Grammar(
        module="tree_sitter_cpp",
        definitions=words("function_definition"),
        wrappers=words("template_declaration"),
        scopes=_STRUCTS | words("class_specifier namespace_definition concept_definition"),
    ),
    "csharp": Grammar(
        module="tree_sitter_c_sharp",
        definitions=words(
            "method_declaration constructor_declaration destructor_declaration"
            " operator_declaration conversion_operator_declaration local_function_statement"
        ),
        scopes=words(
            "namespace_declaration file_scoped_namespace_declaration class_declaration"
            " struct_declaration record_declaration interface_declaration enum_declaration"
        ),
        blocks=(*BLOCKS, "declaration_list", "accessor_list", "enum_member_declaration_list"),
        openers=words("preproc_region"),
        closers=words("preproc_endregion"),
    ),
    "css": Grammar(
        module="tree_sitter_css",
        scopes=words("media_statement supports_statement keyframes_statement"),
        comments=words("comment js_comment"),
        blocks=("block", "keyframe_block_list"),
    ),
    "elixir": Grammar(
        module="tree_sitter_elixir",
        definitions=kinds(
            "call", "def defp defmacro defmacrop defguard defguardp defdelegate test"
        ),
        names=("arguments", "0", "left", "target"),
        clauses=True,
        scopes=kinds("call", "defmodule defprotocol defimpl"),
        attributes=kinds("unary_operator", "doc typedoc spec impl deprecated dialyzer tag"),
        blocks=("do_block",),
        kind_steps={"call": ("target",), "unary_operator": ("operand", "target")},
    ),
    "go": Grammar(
        module="tree_sitter_go",
        definitions=words("function_declaration method_declaration"),
        scopes=words("type_spec"),
    ),
    "haskell": Grammar(
        module="tree_sitter_haskell",
        definitions=words("function bind"),
        names=("name", "infix", "operator"),
        clauses=True,
        scopes=words("class instance data_type newtype"),
        comments=words("comment haddock"),
        attributes=words("signature pragma"),
        leads=words("signature"),
        bodies=("match", "expression"),
        blocks=("class_declarations", "instance_declarations", "local_binds"),
        loose=True,
    ),
    "html": Grammar(
        module="tree_sitter_html",
        openers=words("start_tag"),
        closers=words("end_tag"),
        loose=True,
    ),
    "java": Grammar(
        module="tree_sitter_java",
        definitions=words(
            "method_declaration constructor_declaration compact_constructor_declaration"
        ),
        scopes=words(
            "class_declaration interface_declaration enum_declaration record_declaration"
            " annotation_type_declaration"
        ),
    ),
    "javascript": Grammar(
        module="tree_sitter_javascript",
        definitions=_SCRIPT_FUNCTIONS,
        values=_SCRIPT_VALUES,
        carriers=_SCRIPT_CARRIERS,
        wrappers=_SCRIPT_WRAPPERS,
        scopes=words("class_declaration"),
    ),
    "json": Grammar(
        module="tree_sitter_json",
        bodies=("value",),
    ),
    "julia": Grammar(
        module="tree_sitter_julia",
        definitions=words("function_definition macro_definition"),
        heads={"assignment": words("call_expression where_expression")},
        wrappers=words("macrocall_expression macro_argument_list"),
        names=(
            *("signature", "type_head", "where_expression", "call_expression"),
            *("binary_expression", "0"),
        ),
        scopes=words("module_definition struct_definition abstract_definition"),
        attributes=words("string_literal"),
    ),
    "kotlin": Grammar(
        module="tree_sitter_kotlin",
        definitions=words("function_declaration secondary_constructor"),
        scopes=words("class_declaration object_declaration companion_object"),
        blocks=("class_body", "enum_class_body", "function_body", "block"),
    ),
    "lua": Grammar(
        module="tree_sitter_lua",
        definitions=words("function_declaration"),
        values=words("function_definition"),
        carriers=words("expression_list field"),
        wrappers=words("variable_declaration assignment_statement"),
    ),
    "markdown": Grammar(
        module="tree_sitter_markdown",
        names=("atx_heading", "setext_heading", "heading_content"),
        scopes=words("section"),
        openers=words("atx_heading setext_heading"),
        loose=True,
    ),
    "php": Grammar(
        module="tree_sitter_php",
        function="language_php",
        definitions=words("function_definition method_declaration"),
        values=words("anonymous_function arrow_function"),
        carriers=words("assignment_expression"),
        wrappers=words("expression_statement"),
        scopes=words(
            "namespace_definition class_declaration interface_declaration trait_declaration"
            " enum_declaration"
        ),
        blocks=(
            "compound_statement",
            "declaration_list",
            "enum_declaration_list",
            "colon_block",
        ),
    ),
    "python": Grammar(
        module="tree_sitter_python",
        definitions=words("function_definition"),
        wrappers=words("decorated_definition"),
        scopes=words("class_definition"),
    ),
    "ruby": Grammar(
        module="tree_sitter_ruby",
        definitions=words("method singleton_method") | kinds("call", "define_method"),
        wrappers=words("call argument_list"),
        scopes=words("class module"),
        attributes=kinds("call", "sig"),
        blocks=("body_statement", "block_body", "then", "do_block", "do"),
        kind_steps={"call": ("method",)},
    ),
    "rust": Grammar(
        module="tree_sitter_rust",
        definitions=words("function_item"),
        scopes=words("impl_item trait_item mod_item struct_item enum_item union_item"),
    ),
    "scala": Grammar(
        module="tree_sitter_scala",
        definitions=words("function_definition function_declaration"),
        scopes=words(
            "class_definition object_definition trait_definition enum_definition package_object"
            " package_clause given_definition extension_definition"
        ),
        blocks=("template_body", "block", "indented_block"),
        loose=True,
    ),
    "sql": Grammar(
        module="tree_sitter_sql",
        definitions=words("create_function create_procedure create_trigger"),
        names=("create_function", "create_trigger", "object_reference"),
        comments=words("comment marginalia"),
        blocks=("column_definitions", "function_body"),
        transparent=words("statement"),
    ),
    "swift": Grammar(
        module="tree_sitter_swift",
        definitions=words(
            "function_declaration init_declaration deinit_declaration subscript_declaration"
            " protocol_function_declaration"
        ),
        scopes=words("class_declaration protocol_declaration"),
        comments=words("comment multiline_comment"),
        blocks=("statements", "class_body", "protocol_body", "enum_class_body", "function_body"),
        loose=True,
    ),
    "toml": Grammar(
        module="tree_sitter_toml",
        names=("0",),
        scopes=words("table table_array_element"),
        loose=True,
    ),
    "tsx": Grammar(
        module="tree_sitter_typescript",
        function="language_tsx",
        definitions=_SCRIPT_FUNCTIONS,
        values=_SCRIPT_VALUES,
        carriers=_SCRIPT_CARRIERS,
        wrappers=_SCRIPT_WRAPPERS,
        scopes=_TYPESCRIPT_SCOPES,
    ),
    "typescript": Grammar(
        module="tree_sitter_typescript",
        function="language_typescript",
        definitions=_SCRIPT_FUNCTIONS,
        values=_SCRIPT_VALUES,
        carriers=_SCRIPT_CARRIERS,
        wrappers=_SCRIPT_WRAPPERS,
        scopes=_TYPESCRIPT_SCOPES,
    ),
    "xml": Grammar(
        module="tree_sitter_xml",
        function="language_xml",
        comments=words("Comment"),
        blocks=("content",),
        openers=words("STag"),
        closers=words("ETag"),
        loose=True,
    ),
    "yaml": Grammar(
        module="tree_sitter_yaml",
        bodies=("value",),
        blocks=("block_mapping", "block_sequence", "flow_mapping", "flow_sequence", "block_node"),
        loose=True,
        deepest=100,  # its scanner writes past its buffer from about 250 on, two a level
    ),
    "zig": Grammar(
        module="tree_sitter_zig",
        definitions=words("function_declaration test_declaration"),
        blocks=("block", "block_expression"),
    ),
}
