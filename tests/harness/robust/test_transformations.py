"""Every transformation of every file of `stdlib`: meaning stays, and targets move along."""

import re

import pytest
from meaning_kept import compiled, definitions, dump, rows_in_strings, same_but_for_locals, tokens

from harness.datasets.loading import load_dataset
from harness.robust.transformations import HEADER, TRANSFORMATIONS, transform


@pytest.fixture(scope="module")
def stdlib():
    return load_dataset("stdlib")


@pytest.fixture(scope="module", params=list(TRANSFORMATIONS))
def pair(request, stdlib):
    """The name of a transformation, the data set, and the data set after it."""
    return request.param, stdlib, transform(stdlib, request.param)


def sources(dataset):
    return {source.path: source for corpus in dataset.corpora for source in corpus.sources}


def targets(old, new):
    """Path, and the first and last line of each target before and after."""
    for before, after in zip(old.queries, new.queries, strict=True):
        assert (before.id, before.text, before.cluster, before.tags) == (
            after.id, after.text, after.cluster, after.tags)  # fmt: skip
        for one, other in zip(before.targets, after.targets, strict=True):
            assert (one.path, one.grade) == (other.path, other.grade)
            yield one.path, (one.start_line, one.end_line), (other.start_line, other.end_line)


def indented(line, unit):
    spaces = len(line) - len(line.lstrip(" "))
    return unit * (spaces // 4) + " " * (spaces % 4) + line[spaces:]


def expected(name, text, rows, in_strings):
    """What a target becomes by the words of the transformation; None where only tokens say."""
    lines = text.split("\n")[rows[0] - 1 : rows[1]]
    whole = "".join(f"{line}\n" for line in lines)
    numbered = list(zip(range(rows[0], rows[1] + 1), lines, strict=True))
    if name in ("identity", "header", "order"):
        return whole
    if name == "crlf":
        return whole.replace("\n", "\r\n")
    if name == "blank-lines":
        return "".join(
            f"{line}\n" * (1 if line.strip() or row in in_strings else 2) for row, line in numbered
        )
    if name in ("indent-2", "indent-tab"):
        unit = "  " if name == "indent-2" else "\t"
        return "".join(
            f"{line if row in in_strings or not line.strip() else indented(line, unit)}\n"
            for row, line in numbered
        )
    return None


def test_the_target_after_is_the_transformed_target_before(pair):
    name, old, (new, changed) = pair
    before, after = sources(old), sources(new)
    assert changed == (0 if name == "identity" else len(before))
    count = 0
    for path, rows, new_rows in targets(old, new):
        text, found = before[path].text, after[path].lines.text_of(*new_rows)
        wanted = expected(name, text, rows, rows_in_strings(text))
        if wanted is not None:
            assert found == wanted, path
        else:
            own = [token for token in tokens(text) if rows[0] <= token[0] <= rows[1]]
            moved = [
                token for token in tokens(after[path].text)
                if new_rows[0] <= token[0] <= new_rows[1]
            ]  # fmt: skip
            assert [token[1] for token in own] == [token[1] for token in moved]
            if name == "no-comments":
                assert [token[2] for token in own] == [token[2] for token in moved]
                assert "#" not in re.sub(r"(['\"]).*?\1", "", found) or "#" in str(own)
        count += 1
    assert count == len(old.queries) > 100


def test_every_file_means_the_same(pair):
    name, old, (new, _) = pair
    renamed = 0
    after = sources(new)
    for path, source in sources(old).items():
        text = after[path].text
        if name == "names":
            renamed += len(same_but_for_locals(compiled(source.text), compiled(text))[0])
        elif name == "order":
            assert definitions(text) == definitions(source.text)
            assert sorted(text.split("\n")) == sorted(source.text.split("\n"))
            assert dump(text) != dump(source.text)
        else:
            assert dump(text) == dump(source.text), path
        assert (text == source.text) == (name == "identity")
    assert renamed > 300 or name != "names"


def test_the_text_of_a_file_is_what_the_name_of_the_transformation_says(pair):
    name, old, (new, _) = pair
    after = sources(new)
    for path, source in sources(old).items():
        text = after[path].text
        if name == "header":
            lines = text.split("\n")
            at = lines.index("# " + HEADER.split("\n", 1)[0])
            own = lines[at : at + 14]
            assert [line.removeprefix("#").strip() for line in own] == [
                line.strip() for line in [*HEADER.splitlines(), ""]
            ]
            assert "\n".join([*lines[:at], *lines[at + 14 :]]) == source.text
            assert at == (2 if "coding" in lines[1] else 1 if lines[0].startswith("#!") else 0)
        elif name in ("indent-2", "indent-tab", "blank-lines", "crlf"):
            rows = (1, source.text.count("\n"))
            assert text == expected(name, source.text, rows, rows_in_strings(source.text))


def test_the_seed_alone_decides_the_order(stdlib):
    first, again, other = (transform(stdlib, "order", seed)[0].fingerprint for seed in (0, 0, 1))
    assert first == again != other
