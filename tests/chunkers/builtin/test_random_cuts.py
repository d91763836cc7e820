import itertools

import pytest

from chunkers import Services, Source, load_chunker
from chunkers.grammars.bundled import BUNDLED


def sizes_and_starts(spec: str, text: str, path: str = "a.py", language: str = "python"):
    source = Source(text, path, language)
    spans = load_chunker(spec).chunk(source, Services())
    starts = [span.start for span in spans]
    return [source.lines.size(span.start, span.end) for span in spans], starts


@pytest.mark.parametrize("language", sorted(BUNDLED))
@pytest.mark.parametrize("limit", [80, 300, 600])
def test_sizes_are_nearly_those_of_ast_and_as_many(programs, language, limit):
    text = programs[language]
    longest = max(len("".join(line.split())) for line in text.split("\n"))
    wanted, _ = sizes_and_starts(f"ast:max_size={limit}", text, language=language)
    found, _ = sizes_and_starts(f"random-cuts:max_size={limit}", text, language=language)
    assert abs(len(found) - len(wanted)) <= max(1, len(wanted) // 8)
    if len(found) == len(wanted):
        pairs = zip(sorted(found), sorted(wanted), strict=True)
        assert all(abs(one - other) <= 2 * longest for one, other in pairs)


def test_the_sizes_of_ast_come_in_another_order_and_whole_where_lines_allow():
    # Every line weighs one, so every size can be had exactly.
    blocks = [3, 7, 5, 9, 4, 8, 6, 10, 2]
    text = "".join("[\n" + "1\n" * lines + "]\n\n" for lines in blocks)
    wanted, starts = sizes_and_starts("ast:max_size=12", text)
    found, others = sizes_and_starts("random-cuts:max_size=12", text)
    assert sorted(found) == sorted(wanted)
    assert found != wanted
    assert starts != others


def test_the_seed_and_the_path_change_the_cuts_and_nothing_else_does(programs):
    text = programs["python"]
    spec = "random-cuts:max_size=100"
    cuts = {
        (seed, path): tuple(sizes_and_starts(f"{spec},seed={seed}", text, path)[1])
        for seed, path in itertools.product((0, 1), ("a.py", "b.py"))
    }
    assert len(set(cuts.values())) == 4
    assert tuple(sizes_and_starts(spec, text, "a.py")[1]) == cuts[0, "a.py"]


def test_most_cuts_are_not_those_of_ast():
    text = "".join(f"def f{n}(x):\n    y = x\n    return y\n\n" for n in range(200))
    _, wanted = sizes_and_starts("ast:max_size=200", text)
    _, found = sizes_and_starts("random-cuts:max_size=200", text, "some/path.py")
    assert len(found) == len(wanted) > 20
    assert len(set(found[1:])) == len(found) - 1


def test_a_line_over_the_limit_does_not_make_its_neighbours_exceed_it(spans_of):
    text = "x = 1\n" * 30 + "y = '" + "a" * 500 + "'\n" + "z = 2\n" * 30
    for seed in range(20):
        chunker = load_chunker(f"random-cuts:max_size=40,seed={seed}")
        spans_of(chunker, Source(text, "a.py", "python"))


def test_every_chunk_keeps_a_line_where_few_are_left():
    text = "(\n)\n" * 3 + "a" * 60 + "\n"
    assert len(sizes_and_starts("ast:max_size=3", text)[0]) == 3 + 20
    for seed in range(20):
        assert len(sizes_and_starts(f"random-cuts:max_size=3,seed={seed}", text)[0]) == 3 + 20
