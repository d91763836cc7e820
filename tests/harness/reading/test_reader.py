import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkers.errors import InputError
from chunkers.source import Source
from harness.model import Skipped
from harness.reading.decoding import parse_encodings
from harness.reading.reader import ReadRules, decode, read_file, read_folder

RULES = ReadRules()
WESTERN = ReadRules(guess="cp1252")
GOOD = b"def good():\n    return 1\n"


def text_of(data: bytes, rules: ReadRules = RULES) -> str:
    read = decode(data, "a.py", rules)
    assert isinstance(read, Source), read
    return read.text


def reason_of(data: bytes, rules: ReadRules = RULES) -> str:
    read = decode(data, "a.py", rules)
    assert isinstance(read, Skipped), read
    assert read.path == "a.py"
    return read.reason


def put(root: Path, files: dict[str, bytes]) -> Path:
    for name, data in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
    return root


def paths(found: tuple[Source, ...] | tuple[Skipped, ...]) -> list[str]:
    return [one.path for one in found]


class TestDecoding:
    def test_latin_1_is_read_by_the_fall_back_and_says_so(self) -> None:
        read = decode(b"def caf\xe9():\n    return 1\n", "old.py", WESTERN)
        assert isinstance(read, Source)
        assert read.text == "def café():\n    return 1\n"
        assert (read.encoding, read.language) == ("cp1252", "python")

    def test_windows_quotes_are_read_by_the_fall_back(self) -> None:
        assert text_of(b"# \x93quoted\x94 \x80 5\n", WESTERN) == "# “quoted” € 5\n"

    @pytest.mark.parametrize("byte", [0x81, 0x8D, 0x8F, 0x90, 0x9D])
    def test_bytes_that_windows_1252_lacks_are_no_text(self, byte: int) -> None:
        assert reason_of(b"# " + bytes([byte]) + b"\n", WESTERN) == "not cp1252, as is guessed"

    def test_bom_is_dropped_and_recorded(self) -> None:
        read = decode(b"\xef\xbb\xbfimport os\ndef f():\n    return 1\n", "a.py", RULES)
        assert isinstance(read, Source)
        assert read.text == "import os\ndef f():\n    return 1\n"
        assert read.encoding == "utf-8-sig"
        assert read.lines.line_of(read.text.index("import")) == 1
        assert read.lines.line_of(read.text.index("def f")) == 2

    def test_only_one_bom_is_dropped(self) -> None:
        assert text_of(b"\xef\xbb\xbf\xef\xbb\xbfx") == "\ufeffx"

    def test_bom_before_no_utf_8_is_skipped(self) -> None:
        assert "byte order mark" in reason_of(b"\xef\xbb\xbfcaf\xe9\n")

    @pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
    @pytest.mark.parametrize("order", ["le", "be"])
    def test_utf_16_and_32_are_read_by_their_mark(self, encoding: str, order: str) -> None:
        text = "x = 'é😀'\r\ny = 2\r\n"
        data = ("\ufeff" + text).encode(f"{encoding}-{order}")
        read = decode(data, "a.py", RULES)
        assert isinstance(read, Source)
        assert (read.text, read.encoding) == (text, encoding)

    @pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le"])
    def test_utf_16_and_32_without_mark_are_binary(self, encoding: str) -> None:
        assert reason_of("x = 1\n".encode(encoding)).startswith("binary")

    @pytest.mark.parametrize(
        "data",
        [
            b"\xff\xfe" + "x".encode("utf-16-le") + b"\x00\xd8",  # a lone surrogate
            b"\xff\xfex",  # half a unit
            b"\xff\xfe\x00\x00\x00\x00\x11\x00",  # beyond Unicode
        ],
    )
    def test_damaged_utf_16_and_32_are_skipped(self, data: bytes) -> None:
        assert "byte order mark says" in reason_of(data)

    def test_nul_characters_in_utf_16_are_binary(self) -> None:
        assert reason_of(b"\xff\xfe" + "a\0b".encode("utf-16-le")).startswith("binary")

    @pytest.mark.parametrize("surrogate", ["\ud800", "\udcff", "\ud83d\ude00"])
    def test_surrogates_in_utf_8_are_damage_and_no_latin_1(self, surrogate: str) -> None:
        data = b"x = 1  # " + surrogate.encode("utf-8", "surrogatepass")
        assert reason_of(data, WESTERN) == "damaged UTF-8 at byte 9"

    def test_one_bad_byte_does_not_turn_utf_8_into_nonsense(self) -> None:
        assert reason_of("# é è à\n".encode() + b"\xff\n", WESTERN) == "damaged UTF-8 at byte 11"

    @pytest.mark.parametrize(
        ("comment", "encoding"),
        [
            (b"# -*- coding: koi8-r -*-\n", "koi8-r"),
            (b"#!/usr/bin/python\n# vim: set fileencoding=koi8_r :\n", "koi8-r"),
            (b"\n# coding=koi8-r\r\n", "koi8-r"),
        ],
    )
    def test_a_coding_comment_in_the_first_two_lines_counts(
        self, comment: bytes, encoding: str
    ) -> None:
        read = decode(comment + "x = 'привет'\n".encode("koi8-r"), "a.py", RULES)
        assert isinstance(read, Source)
        assert read.text.endswith("x = 'привет'\n")
        assert read.encoding == encoding

    @pytest.mark.parametrize(
        "start", [b"x = 1\n# coding: koi8-r\n", b"#\n#\n# coding: koi8-r\n", b"# decoding koi8-r\n"]
    )
    def test_elsewhere_it_does_not(self, start: bytes) -> None:
        read = decode(start + "x = 'жук'\n".encode("koi8-r"), "a.py", WESTERN)
        assert isinstance(read, Source)
        assert read.encoding == "cp1252"

    @pytest.mark.parametrize("name", ["no-such-thing", "rot13", "hex", "zlib", "..", "idna"])
    def test_an_encoding_that_files_do_not_have_is_a_reason(self, name: str) -> None:
        assert "declares" in reason_of(f"# coding: {name}\n".encode() + b"\xe9\n")

    def test_what_does_not_fit_the_declared_encoding_is_skipped(self) -> None:
        assert reason_of(b"# coding: ascii\nx = '\xe9'\n") == (
            "not ascii, as its coding comment says"
        )

    def test_a_declared_encoding_cannot_smuggle_in_surrogates(self) -> None:
        assert "not utf-7" in reason_of(b"# coding: utf-7\n# +2AA-\n\xe9")

    def test_utf_8_goes_before_the_coding_comment(self) -> None:
        read = decode("# coding: latin-1\n# é\n".encode(), "a.py", RULES)
        assert isinstance(read, Source)
        assert (read.text, read.encoding) == ("# coding: latin-1\n# é\n", "utf-8")

    @pytest.mark.parametrize(
        "data",
        [
            b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)) * 4,
            b"\x89PNG\r\n\x1a\n" + bytes(range(1, 256)) * 4,  # not even a NUL
            b"x = 1\n\0",
        ],
    )
    def test_binary_is_skipped_as_such(self, data: bytes) -> None:
        assert reason_of(data).startswith("binary")

    @pytest.mark.parametrize(
        "text",
        [
            "a = 1\r\nb = 2\r\n",
            "a\rb\n\x0c\ndef f(): pass\x0b\x85\u2028\u2029 \x1c\x1d\x1e",
            "mixed\r\nends\nhere\r",
        ],
    )
    def test_line_ends_stay_as_they_are(self, text: str) -> None:
        assert text_of(text.encode()) == text

    def test_a_form_feed_ends_no_line(self) -> None:
        read = decode(b"a = 1\n\f\ndef b():\n    return 2\n", "a.py", RULES)
        assert isinstance(read, Source)
        assert read.lines.line_of(8) == 3

    @given(st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
    def test_any_text_comes_back_from_utf_8(self, text: str) -> None:
        assert text_of(text.encode()) == text.removeprefix("\ufeff")

    @given(st.binary())
    def test_any_bytes_are_text_without_nul_or_have_a_reason(self, data: bytes) -> None:
        read = decode(data, "a.py", RULES)
        if isinstance(read, Source):
            assert "\0" not in read.text
            read.text.encode()
        else:
            assert read.reason


class TestEncodings:
    @pytest.mark.parametrize(
        ("text", "encoding"),
        [
            ("# Считает расстояние\n", "cp1251"),
            ("# Считает расстояние\n", "koi8-r"),
            ("# Počítá vzdálenost řádků\n", "iso8859-2"),
            ("# Größe über der Brücke\n", "mac-roman"),
            ("# Größe über der Brücke\n", "cp850"),
            ("# 计算两点的距离\n", "gbk"),
            ("# 計算兩點的距離\n", "big5"),
            ("# 距離を計算する\n", "shift_jis"),
            ("# 距離を計算する\n", "euc_jp"),
            ("# 거리를 계산한다\n", "euc_kr"),
            ("# Υπολογίζει την απόσταση\n", "iso8859-7"),
            ("# מחשב את המרחק\n", "cp1255"),
            ("# คำนวณระยะทาง\n", "tis-620"),
        ],
    )
    def test_a_code_page_is_read_as_given_and_never_guessed(self, text: str, encoding: str) -> None:
        data = text.encode(encoding) + b"x = 1\n"
        assert reason_of(data) == "not UTF-8, and no encoding given"
        rules = ReadRules(encodings=parse_encodings([f"*={encoding}"]))
        assert text_of(data, rules) == text + "x = 1\n"

    @pytest.mark.parametrize("encoding", ["iso-2022-jp", "iso-2022-kr", "utf-7", "hz"])
    def test_an_encoding_of_seven_bits_is_read_where_it_is_declared_or_given(
        self, encoding: str
    ) -> None:
        text = {"iso-2022-kr": "x = '거리'\n", "hz": "x = '计算'\n"}.get(encoding, "x = '距離'\n")
        data = text.encode(encoding)
        assert data.isascii()
        declared = f"# -*- coding: {encoding} -*-\n".encode() + data
        if encoding != "iso-2022-kr":  # its header must come first, so it cannot be declared
            assert text_of(declared).split("\n", 1)[1] == text
        assert text_of(data, ReadRules(encodings=parse_encodings([f"*.py={encoding}"]))) == text

    @pytest.mark.parametrize(
        "line",
        [
            "// -*- coding: koi8-r -*-\n",
            "/* vim: set fileencoding=koi8-r : */\n",
            '<?xml version="1.0" encoding="KOI8-R"?>\n',
            '@charset "koi8-r";\n',
            "-- coding: koi8-r-unix\n",
        ],
    )
    def test_files_of_other_languages_declare_their_encoding_too(self, line: str) -> None:
        assert text_of((line + "привет\n").encode("koi8-r")) == line + "привет\n"

    def test_what_is_utf_8_stays_so_whatever_is_given(self) -> None:
        rules = ReadRules(encodings=parse_encodings(["*=cp1251"]))
        assert text_of("# привет\n".encode(), rules) == "# привет\n"

    def test_the_last_pattern_that_fits_decides(self) -> None:
        rules = ReadRules(encodings=parse_encodings(["*=cp1251", "a.*=koi8-r"]))
        assert text_of("привет".encode("koi8-r"), rules) == "привет"

    @pytest.mark.parametrize("text", ["cp1251", "=cp1251", "*=no-such", "*=rot13", "*=idna"])
    def test_an_encoding_that_cannot_be_used_is_an_error(self, text: str) -> None:
        with pytest.raises(InputError, match="encoding"):
            parse_encodings([text])


class TestPointers:
    @pytest.mark.parametrize(
        "start",
        [
            "version https://git-lfs.github.com/spec/v1\n",
            "version https://git-lfs.github.com/spec/v1\next-0-foo sha256:12\n",
            "version https://hawser.github.com/spec/v1\n",
        ],
    )
    def test_a_pointer_is_not_what_it_points_to(self, start: str) -> None:
        pointer = start + f"oid sha256:{'ab' * 32}\nsize 1200\n"
        assert reason_of(pointer.encode()) == "Git LFS pointer"
        assert text_of(b"# " + pointer.encode()).startswith("# version")

    def test_a_pointer_of_git_annex(self) -> None:
        assert reason_of(b"/annex/objects/SHA256E-s1--ab.py\n") == "git-annex pointer"


class TestLongLines:
    RULES = ReadRules(cut_lines=True, max_line=100)

    def test_a_long_line_among_ordinary_ones_loses_its_middle(self) -> None:
        lines = [f"x{n} = {n}" for n in range(40)]
        lines[10] = f'BLOB = "{"A" * 500}"'
        read = decode("\n".join(lines).encode(), "a.py", self.RULES)
        assert isinstance(read, Source)
        assert read.left_out == len(lines[10]) - 100
        cut = read.text.split("\n")
        assert cut[10] == 'BLOB = "' + "A" * 91 + '"'
        assert (cut[:10], cut[11:]) == (lines[:10], lines[11:])

    @pytest.mark.parametrize("ordinary", [0, 1, 19])
    def test_a_file_that_is_mostly_long_lines_is_skipped(self, ordinary: int) -> None:
        text = "x = 1\n" * ordinary + "y" * 101 + "\n" * 60
        assert reason_of(text.encode(), self.RULES) == "a line longer than 100 characters"
        assert text_of(("x = 1\n" * 20).encode() + text.encode(), self.RULES)

    def test_two_long_lines_need_twice_as_many_ordinary_ones(self) -> None:
        long = "y" * 101 + "\n"
        assert "longer" in reason_of((long * 2 + "x = 1\n" * 39).encode(), self.RULES)
        assert len(text_of((long * 2 + "x = 1\n" * 40).encode(), self.RULES)) == 2 * 101 + 240


class TestLimits:
    def test_the_size_limit_is_inclusive(self) -> None:
        rules = ReadRules(max_bytes=6)
        assert isinstance(decode(b"x = 1\n", "a.py", rules), Source)
        assert reason_of(b"x = 12\n", rules) == "larger than 6 bytes"

    def test_the_line_limit_counts_characters_without_lf(self) -> None:
        rules = ReadRules(max_line=4)
        assert isinstance(decode("éééé\nabcd".encode(), "a.py", rules), Source)
        assert reason_of(b"ab\nabcde\nab", rules) == "a line longer than 4 characters"

    def test_minified_javascript_is_skipped_and_its_neighbours_are_not(
        self, tmp_path: Path
    ) -> None:
        minified = b"var a=[" + b"1," * 1_000_000 + b"1];"
        put(tmp_path, {"dist/app.min.js": minified, "src/app.js": b"var a = 1;\n"})
        sources, skipped = read_folder(tmp_path, RULES)
        assert paths(sources) == ["src/app.js"]
        assert skipped == (Skipped("dist/app.min.js", "larger than 1000000 bytes"),)
        _, skipped = read_folder(tmp_path, ReadRules(max_bytes=10**7))
        assert skipped == (Skipped("dist/app.min.js", "a line longer than 10000 characters"),)
        sources, _ = read_folder(tmp_path, ReadRules(max_bytes=10**7, max_line=10**7))
        assert paths(sources) == ["dist/app.min.js", "src/app.js"]
        assert sources[0].lines.count == 1


class TestFolder:
    def test_files_seen_are_those_indexed_and_those_skipped(self, tmp_path: Path) -> None:
        put(
            tmp_path,
            {"good.py": GOOD, "old.py": b"\xe9\n", "icon.py": b"\x89PNG\0", "LICENSE": b""},
        )
        sources, skipped = read_folder(tmp_path, ReadRules(suffixes=(".py",), guess="cp1252"))
        assert paths(sources) == ["good.py", "old.py"]
        assert [(one.path, one.reason) for one in skipped] == [
            ("LICENSE", "name does not end in .py"),
            ("icon.py", "binary: holds NUL bytes"),
        ]
        assert len(sources) + len(skipped) == 4

    def test_empty_and_blank_files_are_indexed(self, tmp_path: Path) -> None:
        put(tmp_path, {"__init__.py": b"", "blank.py": b"  \n\n\t\n"})
        sources, skipped = read_folder(tmp_path, RULES)
        assert [source.text for source in sources] == ["", "  \n\n\t\n"]
        assert skipped == ()

    def test_by_default_files_of_known_languages_are_read(self, tmp_path: Path) -> None:
        put(tmp_path, {"a.py": GOOD, "b.go": b"package b\n", "c.xyzzy": b"?"})
        sources, skipped = read_folder(tmp_path, RULES)
        assert [(one.path, one.language) for one in sources] == [("a.py", "python"), ("b.go", "go")]
        assert skipped == (Skipped("c.xyzzy", "no known language"),)

    def test_a_link_to_an_ancestor_is_not_followed(self, tmp_path: Path) -> None:
        put(tmp_path, {"repo/pkg/a.py": GOOD})
        (tmp_path / "repo/pkg/loop").symlink_to("..")
        sources, skipped = read_folder(tmp_path / "repo", RULES)
        assert paths(sources) == ["pkg/a.py"]
        assert skipped == (Skipped("pkg/loop", "link"),)

    def test_no_link_is_followed_wherever_it_leads(self, tmp_path: Path) -> None:
        put(tmp_path, {"repo/a.py": GOOD, "outside/b.py": GOOD})
        for name, to in [
            ("inside.py", "a.py"),
            ("outside.py", "../outside/b.py"),
            ("folder", "../outside"),
            ("broken.py", "nowhere"),
            ("self.py", "self.py"),
        ]:
            (tmp_path / "repo" / name).symlink_to(to)
        sources, skipped = read_folder(tmp_path / "repo", RULES)
        assert paths(sources) == ["a.py"]
        assert paths(skipped) == ["broken.py", "folder", "inside.py", "outside.py", "self.py"]
        assert {one.reason for one in skipped} == {"link"}

    def test_the_root_itself_may_be_a_link(self, tmp_path: Path) -> None:
        put(tmp_path, {"repo/a.py": GOOD})
        (tmp_path / "link").symlink_to("repo")
        assert paths(read_folder(tmp_path / "link", RULES)[0]) == ["a.py"]

    def test_a_fifo_is_not_opened(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe.py")
        assert read_folder(tmp_path, RULES) == ((), (Skipped("pipe.py", "not a regular file"),))

    def test_what_may_not_be_read_is_listed(self) -> None:
        # Root may read everything, so it steps down for this.
        with tempfile.TemporaryDirectory() as name:
            root = put(Path(name), {"a.py": GOOD, "locked.py": GOOD, "shut/b.py": GOOD})
            root.chmod(0o755)
            (root / "locked.py").chmod(0)
            (root / "shut").chmod(0)
            was = os.geteuid()
            if was == 0:
                os.seteuid(65534)
            try:
                sources, skipped = read_folder(root, RULES)
            finally:
                os.seteuid(was)
                (root / "shut").chmod(0o755)
        assert paths(sources) == ["a.py"]
        assert skipped == (
            Skipped("locked.py", "unreadable: Permission denied"),
            Skipped("shut/", "unreadable: Permission denied"),
        )

    def test_version_control_and_installed_code_are_not_entered(self, tmp_path: Path) -> None:
        put(
            tmp_path,
            {"a.py": GOOD, ".git/hook.py": GOOD, "x/node_modules/b.js": b"", ".ci/c.py": b""},
        )
        sources, skipped = read_folder(tmp_path, RULES)
        assert paths(sources) == [".ci/c.py", "a.py"]
        assert skipped == (Skipped("x/node_modules/", "folder not entered"),)
        sources, _ = read_folder(tmp_path, ReadRules(closed=frozenset()))
        assert len(sources) == 4

    def test_order_is_that_of_the_paths_bytes(self, tmp_path: Path) -> None:
        names = ["b.py", "a/x.py", "a-b/x.py", "a.py", "B.py", "é.py", "z.py", "a/é/1.py", "😀.py"]
        one, two = tmp_path / "one", tmp_path / "two"
        put(one, dict.fromkeys(names, GOOD))
        put(two, dict.fromkeys(reversed(names), GOOD))
        assert paths(read_folder(one, RULES)[0]) == sorted(names, key=os.fsencode)
        assert read_folder(one, RULES) == read_folder(two, RULES)

    def test_odd_file_names_are_kept_letter_by_letter(self, tmp_path: Path) -> None:
        names = ["a b.py", "a\nb.py", "a\\b.py", "a:1-2.py", "#2.py", "%41.py", "-c.py", "é.py",
                 "e\u0301.py", "A.py", "a.py", ".py.py", "a\tb.py"]  # fmt: skip
        put(tmp_path, dict.fromkeys(names, GOOD))
        assert paths(read_folder(tmp_path, RULES)[0]) == sorted(names)

    def test_a_name_that_is_no_utf_8_is_listed_in_letters_that_print(self, tmp_path: Path) -> None:
        put(tmp_path, {"good.py": GOOD, os.fsdecode(b"caf\xe9.py"): GOOD})
        sources, skipped = read_folder(tmp_path, RULES)
        assert paths(sources) == ["good.py"]
        assert skipped == (Skipped("caf\\xe9.py", "its name is not UTF-8"),)
        skipped[0].path.encode()

    @pytest.mark.parametrize("name", ["missing", "file.py"])
    def test_a_root_that_is_no_folder_is_an_error(self, tmp_path: Path, name: str) -> None:
        put(tmp_path, {"file.py": GOOD})
        with pytest.raises(InputError, match=f"{name} is no folder"):
            read_folder(tmp_path / name, RULES)


def test_a_single_file_is_read_whatever_its_suffix(tmp_path: Path) -> None:
    put(tmp_path, {"notes.xyzzy": b"caf\xe9"})
    read = read_file(tmp_path / "notes.xyzzy", "notes.xyzzy", WESTERN)
    assert isinstance(read, Source)
    assert (read.text, read.language) == ("café", None)


def test_a_single_file_that_is_missing_has_a_reason(tmp_path: Path) -> None:
    read = read_file(tmp_path / "none.py", "none.py", RULES)
    assert read == Skipped("none.py", "unreadable: No such file or directory")
