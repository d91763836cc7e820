"""Texts in a file: the same sources, and memory that does not grow with a corpus."""

import copy
import dataclasses
import json
import os
import pickle
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from commands import call
from worlds import files

import chunkers
from chunkers.errors import InputError
from chunkers.source import Source
from harness.datasets.loading import load_dataset
from harness.model import Corpus, Dataset, Query
from harness.reading import stored_text
from harness.reading.stored_text import StoredSource, bounded, kept, relabelled, text_space
from harness.relevance.targets import Copies, by_head, copies_in, holders
from harness.support.space import MEMORY, Space

NOTHING = Space(0)

TEXTS = [
    "",
    "x = 1\n",
    "a\r\nb\r\n\r\nc",
    "größe = 'ß'\n\u3000\u2028名 = '🐍'\n",
    "lone = '\ud800'\n\n  \ttail",
    " \n\n",
    "long = " + "y" * 300_000 + "\n",
]


def sources():
    return [Source(text, f"{n}.py", "python") for n, text in enumerate(TEXTS)]


def stored(limit=0):
    with text_space(Space(limit)):
        return [kept(source) for source in sources()]


def test_without_a_limit_a_source_is_kept_as_it_is():
    (source, *_) = sources()
    assert kept(source) is source
    with text_space(MEMORY):
        assert kept(source) is source
        assert not bounded()
    with text_space(NOTHING):
        assert bounded()
    assert not bounded()


def test_a_stored_source_is_all_that_a_plain_one_is():
    for plain, there in zip(sources(), stored(), strict=True):
        assert type(there) is StoredSource
        assert there == plain
        assert plain == there
        assert hash(there) == hash(plain)
        assert there.text == plain.text
        assert (there.length, there.digest) == (plain.length, plain.digest)
        assert there.lines.starts.tolist() == plain.lines.starts.tolist()
        assert there.lines.nws.tolist() == plain.lines.nws.tolist()
        assert {plain: 1} == {there: 1}
        for other in (copy.deepcopy(there), pickle.loads(pickle.dumps(there))):  # noqa: S301
            assert type(other) is Source
            assert other == plain


def test_sources_of_other_texts_or_labels_differ():
    plain, there = sources()[1], stored()[1]
    for change in ({"text": "x = 2\n"}, {"path": "other"}, {"language": None}, {"left_out": 1}):
        other = dataclasses.replace(plain, **change)
        assert there != other
        assert other != there
        with text_space(NOTHING):
            assert there != kept(other)
    assert there != "x = 1\n"


def test_a_changed_copy_is_plain_and_a_relabelled_one_is_stored():
    there = stored()[3]
    changed = dataclasses.replace(there, text="new")
    assert type(changed) is Source
    assert changed == Source("new", "3.py", "python")
    other = relabelled(there, path="b", language=None)
    assert type(other) is StoredSource
    assert other == Source(TEXTS[3], "b")
    assert relabelled(changed, path="b") == Source("new", "b", "python")


def test_texts_stay_in_memory_until_they_pass_their_share():
    with text_space(Space(10_000)):  # a fifth, half of which is for the indexes of lines
        found = [kept(Source(f"{n}" * 400, f"{n}")) for n in range(4)]
    assert [*map(type, found)] == [Source, Source, StoredSource, StoredSource]


def test_a_text_that_ends_leaves_its_room_to_the_next():
    def source(n):
        return kept(Source(f"{n}" * 400, f"{n}"))

    with text_space(Space(10_000)):
        first, second, third = map(source, range(3))
        assert (type(first), type(second), type(third)) == (Source, Source, StoredSource)
        del first
        fourth, fifth = map(source, range(3, 5))
        assert (type(fourth), type(fifth)) == (Source, StoredSource)
    assert (second.text[0], third.text[0], fourth.text[0], fifth.text[0]) == ("1", "2", "3", "4")


def test_a_text_of_several_sources_counts_once_until_the_last_of_them_ends():
    with text_space(Space(10_000)):
        first = kept(Source("0" * 800, "0"))
        again, other = kept(first), relabelled(first, path="1")
        assert again is first
        assert type(other) is Source
        del first, again
        assert type(kept(Source("2" * 800, "2"))) is StoredSource
        del other
        assert type(kept(Source("3" * 800, "3"))) is Source


def test_spaces_of_one_limit_share_it_where_one_is_in_the_other():
    def source(n):
        return kept(Source(f"{n}" * 800, f"{n}"))

    with text_space(Space(10_000)):
        found = [source(0)]
        with text_space(Space(10_000)):
            found.append(source(1))
        with text_space(MEMORY):
            found.append(source(2))
        with text_space(Space(10_001)):
            found.append(source(3))
    with text_space(Space(10_000)):
        found.append(source(4))
    assert [*map(type, found)] == [Source, StoredSource, StoredSource, Source, Source]


@pytest.mark.parametrize("command", ["run", "robust"])
def test_the_data_sets_of_a_run_and_their_masks_take_one_share(
    command, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr("harness.support.space._LEAST", 0)
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        for n in range(9):
            body = "".join(f"    row_{n}_{i} = table.column_{n}_{i}\n" for i in range(40))
            call_line = f"    return gather_{name}_rows(table, row_{n}_1)\n"
            text = f"from lib import gather_{name}_rows\ndef {name}_{n}(table):\n{body}{call_line}"
            (tmp_path / name / f"m{n}.py").write_text(text)
        text = (
            f"def gather_{name}_rows(table, row):\n    found = table.find(row)\n    return found\n"
        )
        (tmp_path / name / "lib.py").write_text(text)
    stores, made, keep = [], set(), stored_text.TextStore.keep
    texts = {file.read_text() for file in tmp_path.glob("*/*.py")}

    def keeping(store, source):
        if store not in stores:
            stores.append(store)
        if source.text not in texts:  # a masked or edited one
            made.update(re.findall("def (one|two)_", source.text))
        return keep(store, source)

    monkeypatch.setattr(stored_text.TextStore, "keep", keeping)
    options = ["-d", "repo:one,queries=calls", "-d", "repo:two,queries=calls"]
    options += ["-r", "bm25", "-c", "fixed:max_size=200", "--memory", "100K"]
    done = call(capsys, command, *options, *(["-o", "out"] if command == "run" else []))
    assert done.code == 0, done.err
    assert len(stores) == 1
    assert made == {"one", "two"}


def test_texts_with_their_comments_take_no_room_from_those_without(tmp_path, monkeypatch):
    monkeypatch.setattr("harness.support.space._LEAST", 0)
    share = 0
    for n in range(20):
        comment = f"Answer the question of number {n} from the table of answers. " * 20
        text = f'def answer_{n}(x):\n    """{comment}"""\n    return x\n'
        (tmp_path / f"m{n}.py").write_text(text)
        share += 2 * sys.getsizeof(text)  # the files as they are read, with their lines
    dataset = load_dataset(f"repo:{tmp_path}", memory=f"{5 * share // 1024 + 1}K")
    assert {type(source) for source in dataset.corpora[0].sources} == {Source}


def test_texts_are_read_again_after_others(monkeypatch):
    monkeypatch.setattr(stored_text, "_OPEN", 10)
    there = stored()
    for _ in range(2):
        assert [source.text for source in there] == TEXTS
        assert [source.lines.count for source in there] == [s.lines.count for s in sources()]


def test_a_stored_source_needs_no_context():
    with text_space(NOTHING):
        there = kept(Source("a", "a"))
    with text_space(NOTHING):
        other = kept(Source("b", "b"))
        assert (there.text, other.text) == ("a", "b")


def test_the_fingerprint_does_not_depend_on_where_texts_are():
    def fingerprint(texts):
        corpus = Corpus("c", tuple(texts))
        return Dataset("d", "document", (corpus,), (Query("q", "c", "x", qrels={}),)).fingerprint

    assert fingerprint(stored()) == fingerprint(sources())


def test_copies_are_found_in_stored_files():
    body = "".join(f"    value_{n} = compute({n})\n" for n in range(9))
    plain = [Source(f"x = {n}\n\n{body}", f"{n}.py") for n in range(3)]
    with text_space(NOTHING):
        there = [kept(source) for source in plain]
    text = "".join(body.split())
    for corpus in (plain, there):
        wanted = by_head([text, f"{text}more"])
        assert copies_in(corpus[0], wanted) == {text: [3]}
        found = Copies.of(corpus, wanted).twins(text, [("0.py", 3, 3 + len(text))])
        assert found == [(f"{n}.py", 3, 3 + len(text)) for n in (1, 2)]
        assert holders(corpus, ["x=1", "", "value_8=compute(8)"]) == {
            "x=1": [1],
            "": [],
            "value_8=compute(8)": [0, 1],
        }


def test_a_full_disk_and_a_folder_that_cannot_be_written_end_in_one_message(tmp_path):
    program = textwrap.dedent("""
        import resource, sys
        from chunkers.source import Source
        from chunkers.errors import InputError
        from harness.reading.stored_text import kept, text_space
        from harness.support.space import Space
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
        try:
            with text_space(Space(0)):
                for n in range(9):
                    kept(Source(f"{n}" * 10_000, f"{n}"))
        except InputError as error:
            print(n, error)
    """)
    (tmp_path / "file").write_text("")
    for folder, number in ((tmp_path / "cache", "5"), (tmp_path / "file", "0")):
        done = subprocess.run(
            [sys.executable, "-c", program], env={**os.environ, "CHUNKMARK_CACHE": str(folder)},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.stdout.startswith(f"{number} {folder}: no room for the texts"), done
        assert "choose another cache folder, or raise --memory" in done.stdout
        assert done.stdout.count("\n") == 1
    assert [*(tmp_path / "cache").iterdir()] == []


def test_a_file_cut_short_is_an_error(monkeypatch):
    there = stored()[1]
    os.ftruncate(there._store._file.fileno(), 3)
    with pytest.raises(InputError, match="texts cannot be read"):
        _ = there.text


def write(folder, functions, each=40, lines=12):
    """A repository of so many functions, whose names are in one question each."""
    folder.mkdir()
    questions = []
    for first in range(0, functions, each):
        text, row = ["# größer"], 2
        for number in range(first, first + each):
            body = [f"    item_{number}_{n} = gather_{n % 7}({number * n})" for n in range(lines)]
            text += [f"def function_{number}(value):", *body, "    return value", ""]
            if number % 9_973 == 0:
                target = f"m{first}.py:{row}-{row + lines + 1}"
                questions.append({"text": f"function_{number} item_{number}_3", "targets": target})
            row += lines + 3
        (folder / f"m{first}.py").write_text("\n".join(text), "utf-8")
    rows = "".join(json.dumps(question) + "\n" for question in questions)
    (folder.parent / "questions.jsonl").write_text(rows, "utf-8")


@pytest.mark.parametrize("queries", ["questions.jsonl", "docstring", "calls"])
def test_a_run_over_stored_texts_has_the_bytes_of_a_run_without(
    queries, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr("harness.support.space._LEAST", 0)
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "corpus", 200)
    for package in ("builtin", "reference"):
        folder = Path(chunkers.__file__).parent / package
        shutil.copytree(folder, tmp_path / "corpus/chunkers" / package)
    kinds, keep = [], stored_text.TextStore.keep

    def keeping(store, source):
        result = keep(store, source)
        kinds.append(type(result))
        return result

    monkeypatch.setattr(stored_text.TextStore, "keep", keeping)
    options = ["-d", f"repo:corpus,queries={queries}", "-r", "bm25", "-m", "SpanR@500c"]
    options += ["-c", "fixed:max_size=200", "-c", "ast:header=on", "--limit", "10"]
    for folder, memory in (("plain", []), ("limited", ["--memory", "80K"])):
        done = call(capsys, "run", *options, *memory, "-o", folder)
        assert done.code == 0, done.err
        assert {*kinds} == ({Source, StoredSource} if memory else set())
    found, wanted = files(tmp_path / "limited"), files(tmp_path / "plain")
    assert len(wanted) > 10
    assert found == wanted


LOAD = textwrap.dedent("""
    import hashlib, sys
    from pathlib import Path
    from harness.building.tree import read_tree
    from harness.model import Dataset, Query, Target
    from harness.reading.stored_text import text_space
    from harness.runs.query_set import prepare
    from harness.support.space import parse_space
    with text_space(parse_space(sys.argv[1] or None)):
        corpus = read_tree(Path("corpus"))
    query = Query("q", corpus.id, "text", (Target("m400.py", 2, 15),))
    dataset = Dataset("d", "span", (corpus,), (query,))
    query_set = prepare(dataset)
    # Not ru_maxrss, which begins with that of the process that started this one.
    status = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
    most = int(status["VmHWM"].split()[0]) // 1024
    places = hashlib.sha256(repr(query_set.places).encode()).hexdigest()
    print(dataset.fingerprint, places, most)
""")


def test_memory_does_not_grow_with_texts(tmp_path):
    write(tmp_path / "corpus", 240_000, each=400)
    size = sum(file.stat().st_size for file in (tmp_path / "corpus").iterdir())
    assert size > 110e6
    found = []
    for memory in ("", "64MB"):
        done = subprocess.run(
            [sys.executable, "-c", LOAD, memory], cwd=tmp_path, check=False,
            env={**os.environ, "PYTHONHASHSEED": "0"}, capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        found.append(done.stdout.split())
    (*plain, most), (*limited, less) = found
    assert limited == plain
    assert int(most) - int(less) >= 80
