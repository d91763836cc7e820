"""What a word is, in scripts with marks and in those without spaces."""

from __future__ import annotations

import unicodedata

import pytest

from harness.support.word_runs import count_words, leaked_queries, words_of


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Fix the reader of lines", 5),
        ("भाषा में कुछ शब्द यहाँ हैं", 6),
        ("исправить ошибку при входе", 4),
        ("로그인 시간 초과 문제 수정", 5),
        ("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 این را درست کنم", 5),
        ("修复登录超时问题", 4),
        ("日本語のメッセージがここにある", 7),
        ("แก้ไขปัญหาการเข้าสู่ระบบ", 4),
        ("修复 login 超时", 3),
        ("", 0),
        ("!? --", 0),
    ],
)
def test_words_are_counted_in_every_script(text: str, count: int) -> None:
    assert count_words(text) == count_words(text, letters=True) == count
    assert count_words(unicodedata.normalize("NFD", text), letters=True) == count


def test_single_letters_digits_and_underscores_are_words_where_these_count() -> None:
    text = "a 1 foo_bar é"
    assert (count_words(text), count_words(text, letters=True)) == (4, 2)


def test_words_are_the_same_however_marks_are_written_and_on_whatever_line() -> None:
    text = "Größe_1 में\nASCII alone\n打开 x"
    words = ["größe_1", "में", "ascii", "alone", "打", "开", "x"]
    assert words_of(text) == words_of(unicodedata.normalize("NFD", text)) == words


def test_a_query_without_spaces_is_found_inside_of_a_longer_sentence() -> None:
    queries = {"in": "打开网络连接", "not": "关闭网络连接"}
    assert leaked_queries(queries, ["# 请打开网络连接。"]) == {"in"}
