"""Tokens: what a run of word characters is split into, on plain and on odd input."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.retrieval.lexical import identifiers, parts, tokenize, words


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        ("value", ["value"]),
        ("parse_url", ["parse", "url"]),
        ("parseUrl", ["parse", "Url"]),
        ("parseURL", ["parse", "URL"]),
        ("HTTPServer", ["HTTP", "Server"]),
        ("HTTPServer2", ["HTTP", "Server", "2"]),
        ("utf8", ["utf", "8"]),
        ("sha256sum", ["sha", "256", "sum"]),
        ("x2Y", ["x", "2", "Y"]),
        ("MAX_SIZE", ["MAX", "SIZE"]),
        ("getHTTPResponseCode", ["get", "HTTP", "Response", "Code"]),
        ("iOS", ["i", "OS"]),
        ("A", ["A"]),
        ("aB", ["a", "B"]),
        ("AB", ["AB"]),
        ("ABc", ["A", "Bc"]),
        ("__init__", ["init"]),
        ("_private", ["private"]),
        ("a__b", ["a", "b"]),
        ("_", []),
        ("___", []),
        ("2024", ["2024"]),
        ("0x1F", ["0", "x", "1", "F"]),
        ("größeMaß", ["größe", "Maß"]),
        ("ДанныеКласса", ["Данные", "Класса"]),
        ("名前", ["名前"]),
        ("名前Name", ["名前", "Name"]),
        ("HTTP名前", ["HTTP名前"]),
        ("ǅungla", ["ǅungla"]),
        ("٣٤x", ["٣٤", "x"]),
    ],
)
def test_a_run_has_these_parts(run, expected):
    assert parts(run) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n\t", []),
        ("a + b", ["a", "b"]),
        ("Value value", ["value", "value"]),
        ("parseURL(x)", ["parseurl", "parse", "url", "x"]),
        ("self.parse_url", ["self", "parse_url", "parse", "url"]),
        ("__init__", ["__init__", "init"]),
        ("_ = 1", ["_", "1"]),
        ("3.14", ["3", "14"]),
        ("utf8 utf-8", ["utf8", "utf", "8", "utf", "8"]),
        ("cafe\u0301 café", ["café", "café"]),  # one name, written in two ways
        ("ﬁle x²", ["file", "x2", "x", "2"]),
        ("Straße STRASSE", ["straße", "strasse"]),
        ("\ud800x", ["x"]),
    ],
)
def test_identifiers_are_the_whole_and_its_parts(text, expected):
    assert identifiers(text) == expected
    assert tokenize(text, "identifiers") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ア・イウエ", ["ア", "イウ", "ウエ"]),
        ("กขค ฿5", ["กข", "ขค", "5"]),
        ("ကခ၊ဂ", ["ကခ", "ဂ"]),
        ("ཀཁ་ག།", ["ཀཁ", "ག"]),
        ("កខ។", ["កខ"]),
        ("ກຂຄ", ["ກຂ", "ຂຄ"]),
        ("ㄅㄆㄇ", ["ㄅㄆ", "ㄆㄇ"]),
        ("ꀀꀁꀂ꒐", ["ꀀꀁ", "ꀁꀂ"]),
        ("ꦀꦁꦂ", ["ꦀꦁ", "ꦁꦂ"]),
        ("ｶﾀｶﾅ", ["カタ", "タカ", "カナ"]),
        ("\u1112\u1161\u11ab\u1100\u116e\u11a8\u110b\u1165", ["한국", "국어"]),
    ],
)
def test_scripts_without_spaces_are_read_as_pairs_of_letters(text, expected):
    for kind in ("words", "identifiers"):
        assert tokenize(text, kind) == expected


def test_words_are_whole_runs_in_lower_case():
    assert words("parseURL(self.x_1)") == ["parseurl", "self", "x_1"]
    assert tokenize("parseURL", "words") == ["parseurl"]


@given(st.text(max_size=40))
def test_no_character_of_a_run_but_underscores_is_lost(text):
    for run in text.split():
        if run.isidentifier():
            assert "".join(parts(run)) == run.replace("_", "")
            assert all(parts(run))


@given(st.text(max_size=60), st.text(max_size=60))
def test_a_text_has_the_tokens_of_its_lines(one, other):
    both = identifiers(f"{one}\n{other}")
    assert both == identifiers(one) + identifiers(other)
