"""A ranking ends with what the retriever scored: what was never found earns nothing."""

from dataclasses import replace

import numpy as np
import pytest
from worlds import grid, small

from chunkers.errors import InputError
from chunkers.source import Source
from harness.model import Corpus, Dataset, Query, Target
from harness.reports.compare import compare_document
from harness.reports.contests import contests
from harness.runs.stored_values import read_stored_cells
from harness.runs.verify import verify

NAMES = ("aa", "bb", "cc", "dd", "ee", "ff")
QUESTIONS = ("zyzzyva quokka", "???", "Öl für Lämpchen")
ALL = ("MRR", "Hit@1", "nDCG@5", "R@5", "SpanR@10000c", "Complete@10000c", "FileMRR", "pnDCG@10")


def six_files(questions, target):
    sources = tuple(
        Source(f"def {name}(value):\n    return value * {at}\n", f"{name}.py", "python")
        for at, name in enumerate(NAMES)
    )
    queries = tuple(
        Query(f"q{at}", "six", text, (Target(f"{target}.py", 1, 2),))
        for at, text in enumerate(questions)
    )
    return Dataset(name="six", gold="span", corpora=(Corpus("six", sources),), queries=queries)


def only_cell(tmp_path, dataset, retriever, profile="default", **changes):
    (cell,) = grid(
        tmp_path,
        f"run {retriever} {profile}",
        dataset,
        chunkers=("fixed",),
        retrievers=(retriever,),
        measures=ALL,
        profile=profile,
        **changes,
    ).cells
    return cell


@pytest.mark.parametrize("target", ["aa", "ff"])
@pytest.mark.parametrize("retriever", ["bm25", "bow"])
@pytest.mark.parametrize("profile", ["default", "trec", "code-chunk", "memorybench"])
def test_questions_without_a_known_word_earn_nothing(tmp_path, target, retriever, profile):
    cell = only_cell(tmp_path, six_files(QUESTIONS, target), retriever, profile)
    values = {name: one["mean"] for name, one in cell.metrics["metrics"].items()}
    assert set(filter(None, values.values())) == set()
    assert values["MRR"] == 0
    assert cell.cell["health"]["unranked_queries"] == 3


def test_a_question_with_one_known_word_retrieves_the_file_that_holds_it_alone(tmp_path):
    cell = only_cell(tmp_path, six_files(["cc please"], "aa"), "bm25")
    assert cell.metrics["metrics"]["MRR"]["mean"] == 0
    assert cell.metrics["metrics"]["R@5"]["mean"] == 0
    assert cell.cell["health"]["unranked_queries"] == 0
    assert cell.cell["health"]["short_rankings"] == 1
    found = only_cell(tmp_path, six_files(["cc please"], "cc"), "bm25")
    assert found.metrics["metrics"]["MRR"]["mean"] == 1


def test_hybrid_ranks_what_either_side_scored(tmp_path):
    cell = only_cell(tmp_path, six_files(QUESTIONS[:1], "aa"), "hybrid")
    assert cell.cell["health"]["unranked_queries"] == 0
    assert 0 < cell.metrics["metrics"]["MRR"]["mean"] <= 1


def test_a_run_with_empty_rankings_verifies(tmp_path):
    result = grid(
        tmp_path, "run", six_files(QUESTIONS, "aa"), chunkers=("fixed",), retrievers=("bm25",)
    )
    (verified,) = verify(result.out)
    assert verified.differences == ()
    assert verified.values > 0


COMMENTS = {
    "distance": "计算两个仓库之间的距离",
    "price": "读取商品的最新价格",
    "weather": "下载明天的天气预报",
    "login": "检查用户名和密码是否正确",
    "backup": "每天晚上备份数据库",
    "image": "把图片缩小到指定大小",
    "mail": "给所有会员发送电子邮件",
    "report": "生成每月的销售报告",
}
ASKED = {
    "distance": "仓库相隔多远", "price": "商品价格是多少", "weather": "明天天气怎样",
    "login": "密码错了怎么办", "backup": "数据库什么时候备份", "image": "怎样缩小图片",
    "mail": "发送电子邮件的代码", "report": "销售报告在哪里生成",
}  # fmt: skip


JAPANESE = {
    "area": "長方形の面積を計算する", "mail": "会員にメールを送信する",
    "login": "パスワードを確認する", "log": "古い記録を削除する",
}  # fmt: skip
ASKED_IN_JAPANESE = {
    "area": "面積の計算はどこ", "mail": "メール送信の処理",
    "login": "パスワード確認はどうする", "log": "記録の削除",
}  # fmt: skip


@pytest.mark.parametrize("retriever", ["bm25", "bow", "bm25:tokens=words"])
@pytest.mark.parametrize(
    ("comments", "asked"),
    [(COMMENTS, ASKED), (JAPANESE, ASKED_IN_JAPANESE)],
    ids=["Chinese", "Japanese"],
)
def test_questions_in_scripts_without_spaces_meet_their_files(tmp_path, retriever, comments, asked):
    sources = tuple(
        Source(f"# {text}\ndef {name}(value):\n    return value\n", f"{name}.py", "python")
        for name, text in sorted(comments.items())
    )
    queries = tuple(
        Query(name, "some", text, (Target(f"{name}.py", 1, 3),)) for name, text in asked.items()
    )
    dataset = Dataset("some", "span", (Corpus("some", sources),), queries)
    cell = only_cell(tmp_path, dataset, retriever)
    assert cell.metrics["metrics"]["MRR"]["mean"] > 0.9


class Wrong:
    """A retriever whose index returns what a test says."""

    dense = False
    version = "1"
    answer = (np.zeros(0, np.int64), np.zeros(0))
    nbytes = 0

    def index(self, material):
        del material
        return self

    def scores(self, question, depth):
        del question, depth
        return Wrong.answer


def make_wrong():
    return Wrong()


@pytest.mark.parametrize(
    ("units", "scores", "problem"),
    [
        ([0, 1], [1.0, np.nan], "a score of NaN"),
        ([0, 1], [1.0, np.inf], "an infinite score"),
        ([-1, 1], [1.0, 0.5], "a unit outside 0 to"),
        ([0, 99999], [1.0, 0.5], "a unit outside 0 to"),
        ([1, 1], [1.0, 0.5], "a unit more than once"),
        ([0, 1], [1.0], "2 units with 1 scores"),
    ],
)
def test_a_retriever_that_returns_nonsense_is_named_with_the_query(
    tmp_path, monkeypatch, units, scores, problem
):
    from chunkers.errors import InputError

    monkeypatch.setattr(Wrong, "answer", (np.array(units), np.array(scores)))
    monkeypatch.setitem(__import__("sys").modules, "wrong_retriever", __import__(__name__))
    with pytest.raises(InputError, match=f"query q alpha: the retriever returned {problem}"):
        grid(tmp_path, "run", small(), chunkers=("fixed",), retrievers=(f"{__name__}:make_wrong",))


def of_documents(*grades):
    sources = tuple(Source(f"alpha {NAMES[at]}", f"d{at}", "") for at, _ in enumerate(grades))
    queries = tuple(
        Query(f"q{at}", "docs", NAMES[at], (), qrels={f"d{at}": grade})
        for at, grade in enumerate(grades)
    )
    return Dataset("docs", "document", (Corpus("docs", sources),), queries)


def test_documents_without_a_word_of_the_query_earn_nothing(tmp_path):
    dataset = of_documents(1, 1, 1)
    texts = (NAMES[1], "unheard", NAMES[2])  # a word of another document, of none, of its own
    asked = tuple(replace(q, text=t) for q, t in zip(dataset.queries, texts, strict=True))
    cell = only_cell(tmp_path, replace(dataset, queries=asked), "bm25", "trec")
    assert cell.metrics["metrics"]["MRR"]["mean"] == pytest.approx(1 / 3)
    assert cell.cell["health"]["unranked_queries"] == 1


@pytest.mark.parametrize(
    ("grades", "changes", "words"),
    [
        ((0, -1), {}, "no query has a relevant document"),
        ((1, 1), {"profile": "default:rel=2"}, "no query has a relevant document"),
        ((1, 1), {"measures": ("FileMRR", "SpanR@10c")}, "all measures are of lines"),
        ((), {}, "no query has a relevant document"),
        ((0, 0), {"profile": "trec"}, None),  # in the mean, as in pytrec_eval
        ((0, 1), {}, None),
        ((1, 1), {"measures": ("FileMRR", "MRR")}, None),
    ],
)
def test_a_run_with_nothing_to_average_is_refused_before_the_work(tmp_path, grades, changes, words):
    asked = {"chunkers": ("fixed",), "retrievers": ("bm25",), "measures": ("MRR",)} | changes
    if words is None:
        (cell,) = grid(tmp_path, dataset=of_documents(*grades), **asked).cells
        assert cell.metrics["n_queries"] > 0
        return
    with pytest.raises(InputError, match=words):
        grid(tmp_path, dataset=of_documents(*grades), **asked)
    assert not list((tmp_path / "run" / "cells").iterdir())


def test_stored_cells_without_a_query_in_the_mean_are_not_compared(tmp_path, monkeypatch):
    monkeypatch.setattr("harness.runs.runner._refuse_unscored", lambda *_: None)
    asked = {"chunkers": ("fixed", "ast"), "retrievers": ("bm25",), "measures": ("MRR",)}
    grid(tmp_path, dataset=of_documents(0, 0), **asked)
    with pytest.raises(InputError, match="no query has a value"):
        compare_document(contests(list(read_stored_cells(tmp_path / "run"))))
