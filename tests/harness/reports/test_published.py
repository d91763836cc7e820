"""Means of runs against the published figures of cards."""

import json
from pathlib import Path

import pytest
from commands import call, says

from harness.datasets import cards
from harness.datasets.cards import card_names, load_card
from harness.embedding.model_cards import find_model
from harness.measures.grammar import parse_measure
from harness.measures.profiles import load_profile
from harness.reports.published import TOLERANCE

MODEL = find_model("all-minilm-l6-v2")
CARD = """
name = "small"
title = "Small"
description = "d"
loader = "harness.datasets.loaders.cosqa:load"
licence = "MIT"
source = "example.org"
revision = "1"
measures = "m"

[[files]]
path = "small/corpus.jsonl"
"""
TEXTS = {"a": "def add(a, b): return a + b", "b": "class Socket: pass", "c": "SELECT name FROM x"}


def figure(**changes):
    values = {
        "harness": "MTEB", "version": "1.2.3", "model": MODEL.hub,
        "model_revision": MODEL.revision, "profile": "trec:variant=mteb",
        "measure": "nDCG@10", "value": 1.0, "source": "somewhere",
    }  # fmt: skip
    lines = (f"{key} = {json.dumps(value)}" for key, value in (values | changes).items())
    return "\n[[published]]\n" + "\n".join(lines) + "\n"


def publish(folder: Path, *figures: str) -> None:
    (folder / "cards/small").mkdir(parents=True, exist_ok=True)
    (folder / "cards/small/dataset.toml").write_text(CARD + "".join(figures), "utf-8")


def run(capsys, folder: Path, out: str, *options: str) -> Path:
    common = ("-d", "small", "-m", "nDCG@10", "--data-dir", folder, "-o", folder / out)
    assert call(capsys, "run", *common, *options).code == 0
    return folder / out


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(cards, "cards_dir", lambda: tmp_path / "cards")
    publish(tmp_path, figure())
    (tmp_path / "small/qrels").mkdir(parents=True)
    rows = [{"_id": key, "text": text} for key, text in TEXTS.items()]
    queries = [{"_id": "q1", "text": "add two numbers"}, {"_id": "q2", "text": "network socket"}]
    for name, lines in (("corpus", rows), ("queries", queries)):
        text = "".join(json.dumps(row) + "\n" for row in lines)
        (tmp_path / f"small/{name}.jsonl").write_text(text)
    (tmp_path / "small/qrels/test.tsv").write_text("q1\ta\t1\nq2\tb\t1\n")
    return tmp_path


def test_a_mean_agrees_or_differs_within_the_tolerance(folder, capsys):
    whole = ("-c", "whole-file", "--profile", "trec:variant=mteb")
    made = run(capsys, folder, "run", *whole)
    done = call(capsys, "verify", "--published", made)
    assert (done.code, done.err) == (0, "")
    for part in ("1 cell", "no differences", "small", "minilm", "1.00000", "agrees", "MTEB 1.2.3"):
        assert part in done.out
    publish(folder, figure(value=1 - TOLERANCE + 1e-9), figure(value=1 - TOLERANCE - 1e-9))
    done = call(capsys, "verify", made, "--published", "--format", "json")
    assert (done.code, done.json["verdict"]) == (1, "fail")
    assert [row["agrees"] for row in done.json["published"]] == [True, False]
    assert done.json["published"][1]["difference"] == pytest.approx(TOLERANCE, abs=1e-8)
    assert done.json["published"][0]["published"]["model"] == MODEL.hub
    assert "published" not in call(capsys, "verify", made, "--format", "json").json
    csv = call(capsys, "verify", made, "--published", "--format", "csv").out
    assert csv.startswith("data set,embedder,measure,value,published,difference,verdict,by\n")
    # Several runs are verified together; a changed file fails whatever was published.
    other = run(capsys, folder, "other", *whole, "--seed", "1")
    publish(folder, figure())
    assert len(call(capsys, "verify", made, other, "--format", "json").json["cells"]) == 2
    (cell,) = (other / "cells").iterdir()
    text = (cell / "run.trec").read_text()
    (cell / "run.trec").write_text(text.replace(" 3 ", " 2 ", 1))
    assert call(capsys, "verify", "--published", made, other).code == 1


def test_a_figure_applies_only_to_its_own_configuration(folder, capsys):
    profile = ("--profile", "trec:variant=mteb")
    for options in (
        ("-c", "whole-file", "--profile", "trec"),
        ("-c", "fixed", *profile),
        ("-c", "whole-file", "-r", "bm25", *profile),
        ("-c", "whole-file", "-e", "minilm:windows=max", *profile),
        ("-c", "whole-file", "--limit", "1", *profile),
    ):
        made = run(capsys, folder, "run", *options)
        done = call(capsys, "verify", made, "--published")
        again = "run `chunkmark run -d small -c whole-file -r dense -e minilm --profile trec:"
        says(done, 2, f"no published figure applies to {made}: figures are of whole", again)
        assert done.out == ""
    made = run(capsys, folder, "run", "-c", "whole-file", *profile)
    for changes in (
        {"model": "intfloat/e5-base-v2"}, {"model": "org/unknown"}, {"measure": "nDCG@5"},
        {"model_revision": "0" * 40}, {"profile": "trec:variant=beir"},
    ):  # fmt: skip
        publish(folder, figure(**changes))
        says(call(capsys, "verify", made, "--published"), 2, "no published figure applies")
    says(call(capsys, "verify", "--published", folder), 2, "is not a run folder")


def test_a_card_shows_its_figures(folder, capsys):
    done = call(capsys, "dataset", "info", "small")
    assert f"1.0 nDCG@10 of {MODEL.hub} by MTEB" in done.out


def test_the_figures_of_all_cards_can_be_compared():
    figures = [(name, row) for name in card_names() for row in load_card(name).published]
    for name, row in figures:
        assert load_profile(row.profile).name == row.profile, name
        assert str(parse_measure(row.measure)) == row.measure, name
        assert find_model(row.model).revision == row.model_revision, name
    minilm = {name: row.value for name, row in figures if row.model == MODEL.hub}
    assert minilm == {
        "cosqa": 0.59263,
        "coir-apps": 0.06596,
        "coir-codefeedback-mt": 0.35617,
        "coir-codefeedback-st": 0.65992,
        "coir-codetrans-contest": 0.61776,
        "coir-codetrans-dl": 0.27941,
        "coir-cosqa": 0.33024,
        "coir-stackoverflow-qa": 0.83958,
        "coir-text2sql": 0.44355,
    }
    assert ("coir-cosqa", 0.3259) in [(name, row.value) for name, row in figures]
