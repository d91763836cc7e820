import subprocess
import sys

import pytest

from chunkers.errors import InputError
from harness.measures.grammar import Measure, comparable, family_of, list_families, parse_measure


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("nDCG@10", "nDCG@10"),
        ("ndcg@10", "nDCG@10"),
        ("ndcg_at_10", "nDCG@10"),
        ("NDCG_AT_10", "nDCG@10"),
        ("p@5", "P@5"),
        ("precision@5", "P@5"),
        ("r@10", "R@10"),
        ("recall@10", "R@10"),
        ("f1@10", "F1@10"),
        ("mrr", "MRR"),
        ("MRR@10", "MRR@10"),
        ("mean_reciprocal_rank", "MRR"),
        ("map@10", "MAP@10"),
        ("MAP", "MAP"),
        ("hit@5", "Hit@5"),
        ("success_at_5", "Hit@5"),
        ("Success@5", "Hit@5"),
        ("rprec", "Rprec"),
        ("judged@10", "Judged@10"),
        ("iou@5", "IoU@5"),
        ("file_recall@5", "FileR@5"),
        ("filer@5", "FileR@5"),
        ("FileMRR", "FileMRR"),
        ("spanr@10000c", "SpanR@10000c"),
        ("span_recall@2500C", "SpanR@2500c"),
        ("SpanP@5000c", "SpanP@5000c"),
        ("SpanF1@5000c", "SpanF1@5000c"),
        ("spaniou@5000c", "SpanIoU@5000c"),
        ("complete@010000c", "Complete@10000c"),
        (" nDCG@5 ", "nDCG@5"),
        ("ndcg", "nDCG"),
        ("set_P", "P"),
        ("SetR", "R"),
        ("set_recall", "R"),
        ("SetF", "F1"),
        ("bpref", "Bpref"),
        ("accuracy@3", "Hit@3"),
        ("ndcg_burges@5", "nDCG(exp)@5"),
        ("nDCG(dcg='exp-log2')@10", "nDCG(exp)@10"),
        ("nDCG(judged_only=True)@10", "nDCG(judged)@10"),
        ("nDCG(dcg='exp-log2', judged_only=True)", "nDCG(exp,judged)"),
        ("ndcg(exp, judged)@10", "nDCG(exp,judged)@10"),
    ],
)
def test_spelling_prints_canonical_name(text, printed):
    assert str(parse_measure(text)) == printed
    assert parse_measure(printed) == parse_measure(text)


def test_parsed_measure_holds_family_cut_and_unit():
    assert parse_measure("SpanR@10000c") == Measure("SpanR", 10000, "c")
    assert parse_measure("nDCG@10") == Measure("nDCG", 10, None)
    assert parse_measure("MRR") == Measure("MRR")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("ndgc@10", "did you mean nDCG@10"),
        ("recal@5", "did you mean R@10"),
        ("SpamR@10000c", "SpanR@10000c"),
        ("zzz", "see `chunkmark list measures`"),
        ("", "unknown measure"),
        ("Hit", "needs a cut-off; write Hit@10"),
        ("set_P@5", "unknown measure"),
        ("SpanR", "write SpanR@10000c"),
        ("nDCG@0", "positive whole number"),
        ("nDCG@-1", "positive whole number"),
        ("nDCG@1.5", "positive whole number"),
        ("nDCG@", "positive whole number"),
        ("nDCG@ten", "positive whole number"),
        ("nDCG@10c", "ranks; write nDCG or nDCG@10"),
        ("SpanR@10000", "write SpanR@10000c"),
        ("SpanR@10000t", "write SpanR@10000c"),
        ("Rprec@5", "takes no cut-off"),
        ("nDCG@10@5", "unknown measure"),
    ],
)
def test_wrong_name_says_what_to_write(text, says):
    with pytest.raises(InputError, match=says):
        parse_measure(text)


def test_every_spelling_means_one_family():
    spellings = [
        name.replace("_", "").lower()
        for family in list_families()
        for name in {family.name.lower(), *family.aliases}
    ]
    assert len(spellings) == len(set(spellings))


def test_every_family_describes_itself_in_one_line():
    for family in list_families():
        assert family.description
        assert "\n" not in family.description
        assert family.source


def test_hand_made_measure_of_unknown_family_is_refused():
    with pytest.raises(InputError, match="unknown measure 'Foo@3'"):
        family_of(Measure("Foo", 3))


def test_counts_of_chunks_compare_only_where_documents_are_the_gold():
    assert not comparable(parse_measure("R@10"), spans=True)
    assert comparable(parse_measure("R@10"), spans=False)
    assert comparable(parse_measure("SpanR@10000c"), spans=True)
    assert comparable(parse_measure("FileR@5"), spans=True)


def test_listing_measures_imports_nothing_heavy():
    code = (
        "import sys; from harness.measures.grammar import list_families; list_families();"
        "print(sorted({'torch', 'scipy', 'faiss', 'bm25s', 'sentence_transformers'} "
        "& set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
