"""Self-retrieval: shares of a query's lines, runs of words and whole text, on planted leaks."""

import pytest

from chunkers.source import Source
from harness.audit.self_retrieval import Leak, find_leaks, summarise
from harness.model import Corpus, Dataset, Query, Region, Target
from harness.runs.query_set import prepare

CODE = "".join(f"    value_{n} = compute(argument_{n})\n" for n in range(20))


def leaks(files, *queries):
    corpora = tuple(
        Corpus(name, tuple(Source(text, path) for path, text in sorted(of.items())))
        for name, of in sorted(files.items())
    )
    return find_leaks(prepare(Dataset("made", "span", corpora, queries)))


def leak(text, files, *targets):
    gold = tuple(Target(*target) for target in targets)
    (one,) = leaks({"c": files}, Query("q", "c", text, gold))
    return one


def test_a_query_that_is_the_lines_of_its_gold():
    files = {"a.py": CODE + "other = 1\n", "b.py": "x = 1\n"}
    assert leak(CODE, files, ("a.py", 1, 20)) == Leak("q", 1.0, 1.0, 1.0, True, True, True)


def test_a_query_that_stands_elsewhere_in_the_corpus_alone():
    files = {"a.py": "x = 1\n", "b.py": f"# {CODE}"}
    one = leak(CODE, files, ("a.py", 1, 1))
    assert one == Leak("q", 0.0, 0.0, 1.0, False, True, True)


def test_a_query_in_another_corpus_leaks_nothing():
    found = leaks({"c": {"a": "x\n"}, "d": {"b": CODE}}, Query("q", "c", CODE, (Target("a"),)))
    assert found == (Leak("q", 0.0, 0.0, 0.0, False, False, False),)


def test_each_line_of_gold_counts_for_one_line_of_the_query_and_ends_are_stripped():
    gold = "def f():\r\n\treturn 1\r\n\r\n    pass\r\n"
    query = "  def f():\n\n  pass  \npass\nelse:\n"
    one = leak(query, {"a.py": gold}, ("a.py", 1, 4))
    assert one.lines_in_gold == 2 / 4  # one `pass` of two; `else:` is not there
    assert not one.inside_file


def test_runs_of_eight_words_that_were_copied_are_counted():
    query = "one two three four five six seven eight nine ten"  # three runs
    files = {
        "a.py": "one two three, four FIVE six_seven\n",
        "b.py": "say: two three four five\n\tsix (seven), eight NINE again\n",
        "c.py": "three four five six seven eight nine eleven ten\n",
    }
    one = leak(query, files, ("a.py", 1, 1))
    assert (one.words_in_gold, one.words_in_corpus) == (0.0, 1 / 3)
    assert (one.inside_gold, one.inside_file) == (False, False)


def test_no_run_of_words_goes_from_one_text_to_the_next():
    query = "one two three four five six seven eight"
    halves = {"a.py": "one two three four\n", "b.py": "five six seven eight\n"}
    assert leak(query, halves, ("a.py", 1, 1), ("b.py", 1, 1)).words_in_gold == 0.0
    assert leak(query, halves, ("a.py", 1, 1)).words_in_corpus == 0.0


@pytest.mark.parametrize(
    ("query", "held", "whole"),
    [
        ("sort a list", 1.0, True),
        ("Sort a list", 1.0, False),  # words are compared in lower case, texts are not
        ("sort list", 0.0, False),
        ("???", 0.0, False),
        ("", 0.0, False),
    ],
)
def test_a_short_query_is_one_run(query, held, whole):
    one = leak(query, {"a.py": "x\n", "b.py": "# sort a list of words\n"}, ("a.py", 1, 1))
    assert one.words_in_corpus == held
    assert one.inside_file is whole


def test_a_query_of_words_and_gold_that_is_not_there_are_no_error():
    one = leak("", {"a.py": "x\n"}, ("a.py", 1, 1))
    assert one == Leak("q", 0.0, 0.0, 0.0, False, False, False)


def test_relevant_documents_are_gold_too():
    sources = (Source(CODE, "d1"), Source("red fox\n", "d2"))
    query = Query("q", "c", CODE, qrels={"d1": 1, "d2": 0, "gone": 1})
    other = Query("r", "c", "red fox", qrels={"d1": 1, "d2": 0})
    dataset = Dataset("made", "document", (Corpus("c", sources),), (query, other), pooling="max")
    assert find_leaks(prepare(dataset)) == (
        Leak("q", 1.0, 1.0, 1.0, True, True, True),
        Leak("r", 0.0, 0.0, 1.0, False, True, True),
    )


@pytest.mark.parametrize(
    ("files", "left"),
    [
        ({"a.py": CODE + "x = 1\n"}, False),
        ({"a.py": CODE + CODE}, True),  # once more in its own file
        ({"a.py": CODE + "x = 1\n", "b.py": f"if 1:\n{CODE}"}, True),
    ],
)
def test_what_stands_outside_of_its_own_lines_is_left(files, left):
    corpus = Corpus("c", tuple(Source(text, path) for path, text in files.items()))
    query = Query("q", "c", CODE, (Target("a.py", 21, 21),), region=Region("a.py", 1, 20))
    dataset = Dataset("made", "span", (corpus,), (query,))
    (one,) = find_leaks(prepare(dataset))
    assert (one.inside_file, one.inside_rest) == (True, left)
    assert prepare(dataset, mask=True).copied == left
    # With masks the corpus is that of the query alone: also where another one has its lines.
    beside = Query("r", "c", "x = 1 " * 8, (Target("a.py", 1, 2),), region=Region("a.py", 21, 21))
    both = Dataset("made", "span", (corpus,), (query, beside))
    one, other = find_leaks(prepare(both, mask=True))
    assert (one.inside_file, one.inside_rest, one.words_in_corpus) == (left, left, float(left))
    assert other.words_in_corpus == 0.0


def test_a_summary_is_means_over_queries():
    one = summarise(
        [
            Leak("a", 1.0, 1.0, 1.0, True, True, True),
            Leak("b", 0.95, 0.5, 0.75, False, True, True),
            Leak("c", 0.9, 0.0, 0.25, False, False, False),
            Leak("d", 0.0, 0.0, 0.0, False, False, False),
        ]
    )
    assert one.queries == 4
    assert one.lines_in_gold == pytest.approx(2.85 / 4, abs=1e-15)
    assert (one.queries_over_90, one.queries_of_gold) == (0.5, 0.25)
    assert (one.words_in_gold, one.words_in_corpus) == (0.375, 0.5)
    assert one.queries_sharing_words == 0.75
    assert (one.inside_gold, one.inside_file, one.inside_rest) == (0.25, 0.5, 0.5)
