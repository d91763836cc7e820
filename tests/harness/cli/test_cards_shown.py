"""What `dataset info` shows of a card."""

import json

from commands import call, says


def test_info_names_the_options_of_a_data_set(capsys):
    shown = call(capsys, "dataset", "info", "repo", "--format", "json")
    options = json.loads(shown.out)["options"]
    assert {"queries=docstring", "limit=", "negatives=none"} <= {*options}
    assert not any(each.startswith(("argument", "languages", "tell")) for each in options)


def test_an_unknown_option_of_a_data_set_names_what_shows_them(capsys, tmp_path):
    (tmp_path / "a.py").write_text("x = 1\n")
    done = call(capsys, "run", "-d", f"repo:{tmp_path},foo=3", "-o", tmp_path / "run")
    says(done, 2, "unknown option 'foo'; see `chunkmark dataset info repo`")
