"""The grammars of the optional `tree-sitter-languages`, for languages without a wheel of their own.

The `get_language` of its last release, 1.10.2, fails with today's tree-sitter, so the grammars are
loaded from its library by symbol.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chunkers.grammars.model import Grammar, words

if TYPE_CHECKING:
    from collections.abc import Mapping

_FORTRAN_NAMES = (
    *("module_statement", "submodule_statement", "program_statement", "derived_type_statement"),
    *("subroutine_statement", "function_statement", "type_name", "name"),
)

EXTRA: Mapping[str, Grammar] = {
    "commonlisp": Grammar(
        symbol="commonlisp",
        definitions=words("defun"),
        names=("defun", "defun_header", "function_name"),
        transparent=words("list_lit"),
    ),
    "dockerfile": Grammar(symbol="dockerfile"),
    "dot": Grammar(symbol="dot", blocks=("block", "stmt_list")),
    "elisp": Grammar(symbol="elisp", definitions=words("function_definition macro_definition")),
    "elm": Grammar(
        symbol="elm",
        definitions=words("value_declaration"),
        names=("name", "functionDeclarationLeft", "0"),
        scopes=words("type_declaration type_alias_declaration"),
        attributes=words("type_annotation"),
    ),
    "embedded_template": Grammar(
        symbol="embedded_template", comments=words("comment_directive"), loose=True
    ),
    "erlang": Grammar(
        symbol="erlang",
        definitions=words("fun_decl"),
        names=("clause", "name"),
        clauses=True,
        attributes=words("spec"),
        bodies=("clause", "body"),
    ),
    "fixed_form_fortran": Grammar(
        symbol="fixed_form_fortran",
        definitions=words("subroutine function"),
        names=_FORTRAN_NAMES,
        scopes=words("module submodule program"),
        loose=True,
    ),
    "fortran": Grammar(
        symbol="fortran",
        definitions=words("subroutine function"),
        names=_FORTRAN_NAMES,
        scopes=words("module submodule program derived_type_definition"),
        blocks=("internal_procedures",),
    ),
    "gomod": Grammar(symbol="gomod"),
    "hack": Grammar(
        symbol="hack",
        definitions=words("function_declaration method_declaration"),
        scopes=words(
            "class_declaration interface_declaration trait_declaration enum_declaration"
            " namespace_declaration"
        ),
        blocks=("compound_statement", "member_declarations"),
    ),
    "hcl": Grammar(symbol="hcl", names=("0",), scopes=words("block"), blocks=("body",)),
    "jsdoc": Grammar(symbol="jsdoc"),
    "make": Grammar(
        symbol="make", definitions=words("define_directive"), blocks=("recipe",), loose=True
    ),
    "objc": Grammar(
        symbol="objc",
        definitions=words("function_definition method_definition"),
        names=("name", "selector"),
        scopes=words(
            "class_interface class_implementation protocol_declaration category_interface"
            " category_implementation struct_specifier union_specifier enum_specifier"
        ),
    ),
    "ocaml": Grammar(
        symbol="ocaml",
        definitions=words("method_definition"),
        heads={"let_binding": words("parameter fun_expression function_expression")},
        wrappers=words("value_definition"),
        names=("module_binding", "type_binding", "class_binding", "name", "pattern"),
        scopes=words("module_definition module_type_definition class_definition type_definition"),
    ),
    "perl": Grammar(
        symbol="perl",
        definitions=words("function_definition"),
        values=words("anonymous_function"),
        carriers=words("variable_declaration"),
        scopes=words("package_statement"),
        comments=words("comments pod_statement"),
        closers=words("semi_colon"),
    ),
    "ql": Grammar(
        symbol="ql",
        definitions=words("classlessPredicate memberPredicate charpred"),
        names=("classlessPredicate", "dataclass", "memberPredicate", "charpred", "name"),
        scopes=words("dataclass module"),
        comments=words("line_comment block_comment qldoc"),
        transparent=words("moduleMember classMember"),
    ),
    "r": Grammar(
        symbol="r",
        values=words("function_definition lambda_function"),
        carriers=words("left_assignment equals_assignment super_assignment left_assignment2"),
        bodies=("body", "value"),
        blocks=("brace_list",),
    ),
    "regex": Grammar(symbol="regex"),
    "restructuredtext": Grammar(
        symbol="rst", names=("title",), scopes=words("section"), openers=words("section target")
    ),
    "sqlite": Grammar(
        symbol="sqlite",
        definitions=words("create_trigger_stmt"),
        transparent=words("sql_stmt"),
    ),
    "tsq": Grammar(symbol="tsq"),
}
