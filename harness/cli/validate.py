"""`chunkmark dataset validate`: defects of a data set, and the differences it can detect."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.cli.output import (
    FAILED,
    DataDirOption,
    Format,
    FormatOption,
    LanguageOption,
    console,
    refuse_parts,
    warn_unused_languages,
    write,
    write_json,
    write_rows,
)
from harness.runs.config import PRIMARY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from harness.audit.validation import Power, Validation, ValidationCheck
    from harness.building.tree import Reading

_SHOWN = 3
_TEXT = 500  # characters of a question in a table
_COLUMNS = ("check", "state", "found", "interpretation", "examples")


def validate(
    dataset: Annotated[
        str,
        typer.Argument(
            metavar="DATASET",
            help="Data set, such as stdlib or repo:PATH; with --suggest, a folder of source code "
            "or repo:PATH.",
        ),
    ],
    run: Annotated[
        Path | None,
        typer.Option(
            help="Run folder of this data set. Its scores show how much queries vary.",
            callback=refuse_parts,
        ),
    ] = None,
    measure: Annotated[
        str | None,
        typer.Option(
            "-m",
            "--measure",
            help=f"With --run: measure whose scores are used. Default: {PRIMARY}.",
        ),
    ] = None,
    suggest: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Instead of validating, list places that may answer the questions in this file.",
        ),
    ] = None,
    language: LanguageOption = None,
    data_dir: DataDirOption = None,
    form: FormatOption = Format.TABLE,
) -> int:
    """Validate a data set and estimate its statistical power.

    Checks targets, texts, duplicates, copies of targets, leaks, and whether one language or folder
    dominates. Reports the smallest difference that is detected with 80 % probability, and the
    number of queries needed to detect 1, 2 and 5 points. Both assume the worst case: on every query
    one of two compared chunkers scores 1 and the other 0, and all queries of a cluster (a group of
    dependent queries, such as those on one file) have the same winner. With `--run`, both are also
    computed from the scores of that run. The exit code is 1 if the data set is broken, for example
    if a target does not exist.

    With `--suggest`, lists the places that share the rarest words with each question. You judge
    whether one of them is the answer.
    """
    from chunkers.errors import InputError
    from harness.audit import validation
    from harness.datasets.loading import load_dataset

    if suggest is not None:
        if run is not None or measure:
            raise InputError("--suggest does not validate; remove --run and -m")
        _suggest(dataset, suggest, language or (), form)
        return 0
    if measure and run is None:
        raise InputError("-m selects a measure of a run; add --run")
    loaded = load_dataset(dataset, data_dir=data_dir, languages=language or ())
    warn_unused_languages(language or (), loaded.corpora)
    result = validation.validate(loaded, run, measure)
    if form is Format.JSON:
        write_json(_document(result))
    elif form is Format.TABLE:
        _print(result)
    else:
        write_rows(
            form, _COLUMNS, [*map(_check_row, result.checks), *map(_power_row, result.power)]
        )
    return FAILED if result.broken else 0


def _repository(name: str, languages: Mapping[str, str]) -> tuple[Path, Reading]:
    """The folder of a repository, and how its files are read."""
    from chunkers.plugins.spec import bind, parse_spec
    from harness.building.tree import Reading
    from harness.datasets.loaders import repo

    if not name.startswith("repo:"):
        return Path(name), Reading(languages=languages)
    bound = bind(repo.load, parse_spec(name), "data set")
    keys = bound.keys() & Reading.__dataclass_fields__.keys()
    return Path(bound["argument"]), Reading(
        languages=languages, **{key: bound[key] for key in keys}
    )


def _suggest(name: str, file: Path, languages: Sequence[str], form: Format) -> None:
    """Name the places of a repository that share words with each question of a file."""
    from chunkers.errors import InputError
    from chunkers.languages import parse_overrides
    from harness.building.questions import read_questions
    from harness.building.suggest import suggest
    from harness.building.tree import read_tree, without_file

    root, reading = _repository(name, parse_overrides(languages))
    if not root.is_dir():
        raise InputError(f"{root} is not a folder; --suggest needs a repository")
    if not file.is_file():
        problem = "is not a file" if file.exists() else "does not exist"
        raise InputError(f"--suggest {file} {problem}; give a file of questions")
    questions = read_questions(file)
    corpus = without_file(read_tree(root, reading), root, file)
    warn_unused_languages(languages, [corpus])
    candidates = suggest(corpus, questions)
    if form is Format.JSON:
        rows = [
            {
                "id": question.id,
                "text": question.text,
                "targets": list(question.targets),
                "candidates": list(map(dataclasses.asdict, candidates[question.id])),
            }
            for question in questions
        ]
        write_json({"schema": "chunkmark.dataset-suggest/1", "questions": rows})
        return
    none = "" if form is Format.CSV else "none: no place shares a word"
    cells: list[tuple[str, ...]] = []
    for question in questions:
        start = (question.id, question.text[:_TEXT])
        places = [(place.place, " ".join(place.words)) for place in candidates[question.id]]
        cells += [(*start, *place) for place in places or [(none, "")]]
    write_rows(form, ("question", "text", "candidate", "shared words"), cells)


def _document(result: Validation) -> dict[str, Any]:
    document = dataclasses.asdict(result)
    for power in document["power"]:
        power["queries_for"] = {str(points): n for points, n in power["queries_for"].items()}
    verdict = "broken" if result.broken else "sound"
    return {"schema": "chunkmark.dataset-validate/1", "verdict": verdict, **document}


def _check_row(check: ValidationCheck) -> tuple[str, ...]:
    return (check.check, check.state, check.found, check.reading, _examples(check))


def _examples(check: ValidationCheck) -> str:
    more = len(check.examples) - _SHOWN
    return ", ".join(check.examples[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _power_row(power: Power) -> tuple[str, ...]:
    from harness.support.wording import counted

    # A measure between 0 and 1 cannot differ by more than 1.
    detected = (
        "no difference"
        if power.mdd is None or power.mdd > 1
        else f"a difference of {100 * power.mdd:.1f} points"
    )
    queries = counted(power.queries, "query", "queries")
    found = f"{queries} in {counted(power.clusters, 'cluster')}: {detected} can be detected"
    needed = ", ".join(f"{points}: {count}" for points, count in power.queries_for.items())
    needed = f"queries needed to detect a difference, by points: {needed}"
    return ("power", "ok", f"{found} (sd {power.sd:.3f})", needed, power.assumed)


def _print(result: Validation) -> None:
    from harness.reports.plain import plain
    from harness.support.wording import counted

    output = console()
    head = f"{result.dataset}: {counted(result.queries, 'query', 'queries')}, "
    head += f"{counted(result.corpora, 'corpus', 'corpora')}, data "
    output.print(plain(head + result.fingerprint[:12]), style="bold")
    for check in result.checks:
        mark = {"broken": "BROKEN ", "finding": "finding", "ok": "ok     "}[check.state]
        output.print(f"  {mark}  {plain(check.check)}: {plain(check.found)}")
        examples = f"; for example {_examples(check)}" if check.examples else ""
        output.print(f"           {plain(check.reading + examples)}", style="dim")
    for power in result.power:
        _, _, found, needed, assumed = _power_row(power)
        output.print(f"  power    {plain(found)}")
        output.print(f"           {plain(needed)}", style="dim")
        output.print(f"           {plain(assumed)}", style="dim")
    if result.power:
        note = "           for these corpora, one pair of chunkers, two-sided at 5 %"
        output.print(note, style="dim")
    else:
        output.print(
            "  power    all queries are in one cluster (such as one file), so nothing can be "
            "estimated; add queries on other files"
        )
    if result.run_without_scatter:
        output.print("  power    not estimated from the run: its chunkers have equal scores")
    write("broken; see above" if result.broken else "not broken; report the findings with scores")
