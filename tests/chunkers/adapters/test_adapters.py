"""Every adapter against its library, called directly."""

import subprocess
import sys

import numpy as np
import pytest
from libraries import DIRECT, MODULES, need, nws

from chunkers import InputError, Services, Source, load_chunker
from chunkers.plugins.loading import CHUNKERS
from chunkers.sizes import span_size
from chunkers.testing import check_chunker
from chunkers.testing.services import cheap_services

SPECS = tuple(DIRECT)
SMALL = {
    "no text": "",
    "white space": " \n\t\n",
    "one word": "x",
    "accents": "# é\ndef f():\n    return 'naïve café'\n" * 12,
    "astral": "def f():\n    return '🙂🙂'  # \U0001d4b3\n" * 12,
    "combining": "e\u0301 = 'a\u0308o\u0308'\n" * 40,
    "tabs": "if x:\n\tif y:\n\t\tz = [\n\t\t\t1,\n\t\t\t2,\n\t\t]\n" * 12,
    "form feeds": "x = 1\n\f\ndef f():\n    return 2\n\v\n" * 12,
    "line ends": "a = 1\r\nb = 2\rc = 3\n\r\nd = (\r\n    4,\r\n)\r\n" * 12,
    "a long word": "x" * 700,
    "a long literal": 'x = 1\ny = """' + "A line of it\n" * 60 + '"""\nz = 2\n',
    "comments": "# A comment of some length.\n" * 40,
}
FUNCTION = 'def alpha(value):\n    """Doubles."""\n    return value + value\n\n\n'

# What joins to the source.
EXACT = [
    spec
    for spec in SPECS
    if "overlap" not in spec
    and spec.startswith(("chonkie-", "text-splitter-", "langchain-"))
    and (not spec.startswith("langchain-") or "strip=off" in spec)
]


def cut(spec, text, language="python"):
    source = Source(text, "folder/file", language)
    services = cheap_services()
    return source, load_chunker(spec).chunk(source, services), services


def shown(source, span):
    return span.kept(source.text) if span.embed_text is None else span.embed_text


@pytest.fixture(scope="session")
def sources(programs):
    program = programs["python"]
    return SMALL | {"a program": program, "other line ends": program.replace("\n", "\r\n")}


def test_every_adapter_is_held_against_its_library():
    names = {spec.partition(":")[0] for spec in SPECS}
    found = {
        name
        for name, entry in CHUNKERS.entries().items()
        if entry.target.startswith("chunkers.adapters.") and name != "process"
    }
    assert names == set(MODULES) == found


@pytest.mark.parametrize("spec", SPECS)
def test_chunks_are_the_strings_of_the_library_in_its_order(spec, sources):
    need(spec)
    for name, text in sources.items():
        source, spans, services = cut(spec, text)
        expected = [one for one in DIRECT[spec](text) if one.strip()]
        found = [shown(source, span) for span in spans]
        assert [one for one in found if one.strip()] == expected, name
        assert not services.notes, name


@pytest.mark.parametrize("spec", SPECS)
def test_a_slice_is_the_string_or_differs_in_white_space_gaps_and_what_comes_before(spec, sources):
    need(spec)
    for name, text in sources.items():
        source, spans, _ = cut(spec, text)
        assert spans or name != "a program"
        for span in spans:
            own = "".join(span.kept(text).split())
            embedded = "".join(shown(source, span).split())
            assert embedded.endswith(own), name
            if not spec.startswith("astchunk"):
                assert span.embed_text is None, name
                assert not span.gaps
            elif "expansion" not in spec:
                assert embedded == own, name


@pytest.mark.parametrize("spec", EXACT)
def test_what_should_join_to_the_source_does(spec, sources):
    need(spec)
    for name, text in sources.items():
        _, spans, _ = cut(spec, text)
        if text.strip():
            assert "".join(text[span.start : span.end] for span in spans) == text, name


def turning(texts):
    """Vectors, each further from the next, so that what goes by meaning parts all but the first."""
    angles = 0.01 * np.arange(len(texts)) ** 2
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


@pytest.mark.parametrize("name", sorted(MODULES))
def test_twelve_identical_functions_are_in_twelve_places(name):
    need(name)
    size = len(FUNCTION)
    limit = size if name == "chonkie-token" else nws(FUNCTION) + 2
    spec = f"{name}:max_size={limit}"
    if name == "llamaindex-semantic":
        spec = f"{name}:buffer=0,percentile=0"
    source, services = Source(FUNCTION * 12, "f", "python"), Services(embed=turning)
    spans = load_chunker(spec).chunk(source, services)
    starts = [span.start for span in spans if source.lines.size(span.start, span.end) > 2]
    assert len(starts) >= 12
    assert starts == sorted(set(starts))
    if name in ("chonkie-recursive", "chonkie-semantic", "llamaindex-semantic"):
        # Sentences, and what goes by characters first, end inside of a function: of each at one
        # place. The nearest two neighbours in meaning are not parted.
        assert set(np.diff(starts[1:12]).tolist()) <= {size, 2 * size}
        return
    assert starts == [size * number for number in range(12)]


@pytest.mark.parametrize(
    "spec",
    [
        f"{name}:max_size={size},unit={unit}"
        for name in sorted(set(MODULES) - {"astchunk", "llamaindex-semantic", "chonkie-token"})
        for size, unit in ((60, "nws"), (80, "chars"), (20, "tokens"))
    ],
)
def test_limits_are_in_the_unit_and_hard_unless_declared(spec, programs):
    need(spec)
    chunker = load_chunker(spec)
    source, spans, services = cut(spec, programs["python"])
    sizes = [span_size(source, span, chunker.unit, services) for span in spans]
    assert max(sizes) > chunker.max_size / 2
    if "size limit" not in chunker.exceptions:
        assert max(sizes) <= chunker.max_size


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("chonkie-token:unit=nws", "chunker chonkie-token: unit=nws: this library cannot count it; "
         "write unit=chars"),
        ("chonkie-token:unit=tokens", "unit=tokens"),
        ("astchunk:unit=chars", "unknown option 'unit'"),
        ("llamaindex-semantic:max_size=100", "unknown option 'max_size'"),
        ("semchunk:max_size=0", "chunker semchunk: max_size=0: must be at least 1"),
        ("langchain-code:overlap=600", "must be at least 0 and below max_size=600"),
        ("langchain-code:overlap=-1", "must be at least 0"),
        ("chonkie-semantic:threshold=1", "must be above 0 and below 1"),
        ("llamaindex-semantic:percentile=101", "percentile=101 is 0 to 100"),
    ],
)  # fmt: skip
def test_what_a_library_cannot_do_is_refused_by_name(spec, message):
    need(spec)
    with pytest.raises(InputError) as caught:
        load_chunker(spec)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("spec", ["astchunk", "llamaindex-code", "text-splitter-code",
                                  "chonkie-code", "langchain-code"])  # fmt: skip
def test_a_language_that_a_library_does_not_read_is_left_out_and_noted(spec):
    need(spec)
    for language, note in (("erlang-80", "erlang-80"), (None, "unknown language")):
        _, spans, services = cut(spec, "-module(m).\n", language)
        assert spans == []
        assert services.notes == {f"not read: {note}": 1}
    assert "python" in load_chunker(spec).languages


@pytest.mark.parametrize("name", sorted(MODULES))
def test_every_language_that_an_adapter_names_is_read(name, programs):
    need(name)
    for language in load_chunker(name).languages:
        text = programs.get(language, "x\n\ny\n")
        if name == "llamaindex-code" and language not in programs:
            continue  # what is no program at all it refuses
        source, spans, services = cut(name, text, language)
        assert spans, language
        assert not services.notes, language
        lost = nws(source.text) - sum(nws(span.kept(source.text)) for span in spans)
        assert lost == 0, language


OVERLAPPING = ("langchain-code:overlap=50", "semchunk:overlap=50", "text-splitter-text:overlap=50")
QUICK = {name for name in MODULES if name.startswith(("chonkie-r", "chonkie-t", "lang", "sem"))}


@pytest.mark.parametrize("spec", [*sorted(QUICK), *OVERLAPPING])
def test_an_adapter_conforms_in_one_language(spec):
    need(spec)
    check_chunker(spec, languages=["python"], programs=1).raise_for_failures()


@pytest.mark.slow
@pytest.mark.parametrize("spec", [*sorted(MODULES), *OVERLAPPING])
def test_an_adapter_fails_what_it_declares_and_nothing_else(spec):
    need(spec)
    slow = "time per MB" in load_chunker(spec).exceptions
    report = check_chunker(spec, seconds=2.0 if slow else 10.0)
    report.raise_for_failures()
    assert not slow or "declared" in {one.status for one in report.checks}


def test_listing_and_making_adapters_imports_no_library():
    modules = {module.partition(".")[0] for module in MODULES.values()}
    modules |= {"nltk", "tiktoken", "tree_sitter_language_pack"}
    code = (
        "import sys\n"
        "from chunkers import list_chunkers, load_chunker\n"
        "listed = [one for one in list_chunkers() if not one.problem]\n"
        f"print(sorted(set(sys.modules) & {modules!r}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_all_work_without_a_network_and_without_data(tmp_path):
    for name in MODULES:
        need(name)
    code = (
        "import socket, sys\n"
        "def refuse(*_, **__): raise RuntimeError('the network was asked for')\n"
        "socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse\n"
        "from chunkers import Source, load_chunker\n"
        "from chunkers.testing.services import cheap_services\n"
        "text = open(sys.argv[1], encoding='utf-8').read()\n"
        f"for name in {sorted(MODULES)!r}:\n"
        "    chunker = load_chunker(name)\n"
        "    for language in chunker.languages or ('python',):\n"
        "        source = Source(text if language == 'python' else '', 'f', language)\n"
        "        spans = chunker.chunk(source, cheap_services())\n"
        "        assert spans or language != 'python', name\n"
        "print('done')"
    )
    # No cache that an earlier run may have filled.
    empty = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path), "NLTK_DATA": str(tmp_path),
             "TIKTOKEN_CACHE_DIR": str(tmp_path), "HF_HOME": str(tmp_path)}  # fmt: skip
    import os

    done = subprocess.run(
        [sys.executable, "-c", code, __file__],
        capture_output=True,
        text=True,
        env=dict(os.environ) | empty,
        check=False,
    )
    assert (done.returncode, done.stdout.strip()) == (0, "done"), done.stderr
    assert list(tmp_path.iterdir()) == []


def test_tokens_need_a_tokenizer_and_vectors_an_embedder():
    need("semchunk")
    source = Source("x = 1\n", "f", "python")
    with pytest.raises(InputError, match="needs a tokenizer"):
        load_chunker("semchunk:unit=tokens").chunk(source, Services())
    for name in ("chonkie-semantic", "llamaindex-semantic"):
        need(name)
        with pytest.raises(InputError, match="embedder"):
            load_chunker(name).chunk(source, Services())


@pytest.mark.parametrize("name", ["chonkie-semantic", "llamaindex-semantic"])
def test_texts_are_those_that_cutting_embeds(name, programs):
    need(name)
    source = Source(programs["python"] * 2, "f", "python")
    services, asked = cheap_services(), []
    answer = services.embed
    services.embed = lambda texts: asked.extend(texts) or answer(texts)
    chunker = load_chunker(name)
    told = chunker.texts(source, Services())
    assert len(chunker.chunk(source, services)) > 1
    assert told == asked
    assert len(told) > 10
