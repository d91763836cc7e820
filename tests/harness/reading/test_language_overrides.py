"""Of what language a file is can be said from outside: to a loader, by option, in a suite."""

import json

import pytest
from commands import call, says

from chunkers.errors import InputError
from harness.datasets.loading import load_dataset

C = "int counts(void)\n{\n    return 1;\n}\n"
PHP = "<?php\n// Counts.\nfunction counts() { return 1; }\n"


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "data"
    (folder / "lib").mkdir(parents=True)
    (folder / "a.h").write_text(C, encoding="utf-8")
    (folder / "lib/b.inc").write_text(PHP, encoding="utf-8")
    (folder / "lib/c.txt").write_text("some words\n" * 3, encoding="utf-8")
    (folder / "x.cmake").write_text("set(A 1)\n" * 3, encoding="utf-8")
    (folder / "y.cmake").write_text("set(B 1)\n" * 3, encoding="utf-8")
    return folder


def languages(dataset):
    return {one.path: one.language for corpus in dataset.corpora for one in corpus.sources}


def test_a_loader_that_takes_languages_indexes_what_no_table_names(folder):
    plain = load_dataset("mixed_languages:load", data_dir=folder)
    assert languages(plain) == {"a.h": "cpp", "x.cmake": "cmake", "y.cmake": "cmake"}
    assert "languages" not in plain.information
    told = load_dataset(
        "mixed_languages:load", data_dir=folder, languages=["*.inc=php", "*.h=c", "*.d=dart"]
    )
    assert languages(told) == {
        "a.h": "c",
        "lib/b.inc": "php",
        "x.cmake": "cmake",
        "y.cmake": "cmake",
    }
    assert told.information["languages"] == ("*.inc=php: 1 file, *.h=c: 1 file, *.d=dart: 0 files")
    assert told.fingerprint != plain.fingerprint
    assert "lib/b.inc" in {one.path for one in plain.corpora[0].skipped}


def test_the_files_of_any_other_loader_are_relabelled(folder):
    plain = load_dataset("mixed_languages:named", data_dir=folder)
    assert languages(plain) == {"a.h": "cpp", "lib/b.inc": None, "lib/c.txt": None}
    told = load_dataset("mixed_languages:named", data_dir=folder, languages=["lib/*=php"])
    assert languages(told) == {"a.h": "cpp", "lib/b.inc": "php", "lib/c.txt": "php"}
    assert told.fingerprint != plain.fingerprint
    same = load_dataset("mixed_languages:named", data_dir=folder, languages=["*.h=cpp"])
    assert same.fingerprint == plain.fingerprint


def test_documents_too_can_be_said_to_be_code(tmp_path):
    (tmp_path / "qrels").mkdir()
    (tmp_path / "corpus.jsonl").write_text('{"_id": "d", "text": "x = 1"}\n')
    (tmp_path / "queries.jsonl").write_text('{"_id": "q", "text": "t"}\n')
    (tmp_path / "qrels/test.tsv").write_text("q\td\t1\n")
    assert languages(load_dataset(f"beir:{tmp_path}", languages=["*=python"])) == {"d": "python"}


def test_the_languages_are_no_key_of_the_spec_and_are_checked_first(folder):
    with pytest.raises(InputError, match="unknown option 'languages'"):
        load_dataset("mixed_languages:load,languages=c", data_dir=folder)
    with pytest.raises(InputError, match="unknown language 'klingon'"):
        load_dataset("no-such-data", languages=["*.h=klingon"])


@pytest.mark.parametrize("wrong", ["*.h", "*.h=klingon", "=c"])
def test_a_wrong_language_is_refused_by_name(capsys, folder, wrong):
    file = folder / "a.h"
    says(call(capsys, "chunk", file, "--language", wrong), 2, wrong)
    says(call(capsys, "run", "-r", "bm25", "--language", wrong), 2, wrong)


def test_a_file_is_cut_in_the_language_that_an_option_gives_it(capsys, folder):
    file = folder / "lib/b.inc"
    plain = call(capsys, "chunk", file, "--format", "json").json
    assert plain["language"] is None
    assert plain["results"][0]["health"]["notes"] == {"fallback: fixed (unknown language)": 1}
    told = call(
        capsys, "chunk", file, "--language", "*=sql", "--language", "*.inc=php",
        "-c", "function:max_size=40", "--format", "json",
    ).json  # fmt: skip
    assert told["language"] == "php"
    assert [one["start_line"] for one in told["results"][0]["chunks"]] == [1, 2]
    assert told["results"][0]["health"]["notes"] == {}


def test_a_run_takes_them_by_option_and_by_suite_and_counts_what_it_could_not_parse(
    capsys, folder, tmp_path
):
    common = ["--data-dir", folder, "--format", "json", "-o"]
    line = ["-d", "mixed_languages:load", "-c", "ast:max_size=10", "-r", "bm25", "-m", "MRR"]
    plain = call(capsys, "run", *line, *common, tmp_path / "plain")
    notes = plain.json["cells"][0]["health"]["notes"]
    assert notes == {"fallback: fixed (cmake)": 2}

    by_option = [*line, "--language", "*.inc=php", "--language", "x.*=bash"]
    told = call(capsys, "run", *by_option, *common, tmp_path / "told").json["cells"][0]
    assert told["health"]["notes"] == {"fallback: fixed (cmake)": 1}
    assert told["health"]["files_indexed"] == 4

    suite = tmp_path / "suite.toml"
    suite.write_text(
        'datasets = ["mixed_languages:load"]\nchunkers = ["ast:max_size=10"]\n'
        'retrievers = ["bm25"]\nmeasures = ["MRR"]\nlanguages = ["*.inc=php", "x.*=bash"]\n'
    )
    same = call(capsys, "run", suite, *common, tmp_path / "suite").json["cells"][0]
    assert same["fingerprint"] == told["fingerprint"]
    assert same["fingerprint"] != plain.json["cells"][0]["fingerprint"]
    manifest = json.loads((tmp_path / "suite/manifest.json").read_text("utf-8"))
    assert manifest["config"]["languages"] == ["*.inc=php", "x.*=bash"]
    (dataset,) = manifest["datasets"].values()
    assert dataset["information"]["languages"] == "*.inc=php: 1 file, x.*=bash: 1 file"
