"""`chunkmark dataset validate`: what is broken in a data set, and what it can show."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.cli.output import (
    DataDirOption,
    Format,
    FormatOption,
    LanguageOption,
    console,
    write,
    write_json,
    write_rows,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from harness.audit.validation import Power, Validation, ValidationCheck
    from harness.building.tree import Files

BROKEN = 1
_SHOWN = 3
_TEXT = 500  # characters of a question in a table
_COLUMNS = ("check", "state", "found", "what to think", "such as")


def validate(
    dataset: Annotated[str, typer.Argument(metavar="DATASET", help="As for `run -d`.")],
    run: Annotated[
        Path | None,
        typer.Option(help="A run folder with this data set: how much scores differ in truth."),
    ] = None,
    measure: Annotated[
        str | None, typer.Option("-m", "--measure", help="Whose differences; with --run.")
    ] = None,
    suggest: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Questions: only name places in the repository DATASET that share their words.",
        ),
    ] = None,
    language: LanguageOption = None,
    data_dir: DataDirOption = None,
    form: FormatOption = Format.TABLE,
) -> int:
    """Check targets, texts, duplicates, twins, leaks and balance; say what differences can be seen.

    The smallest difference that is seen with 80 % probability, and the queries that 1, 2 and 5
    points take, are told for the worst case; with --run also for what that run's chunkers differ
    by. The exit code is 1 where something is broken, such as a target that does not exist.

    With --suggest, DATASET is a folder or repo:FOLDER, of whose options files= counts. Each
    question is told the places that share most of its distinctive words: candidates to judge, of
    which none is taken for the answer.
    """
    from chunkers.errors import InputError
    from chunkers.languages import parse_overrides
    from harness.audit import validation
    from harness.datasets.loading import load_dataset

    if suggest is not None:
        if run is not None or measure:
            raise InputError("--suggest validates nothing; leave --run and -m out")
        _suggest(dataset, suggest, parse_overrides(language or ()), form)
        return 0
    if measure and run is None:
        raise InputError("-m is for the scores of a run; give it by --run")
    loaded = load_dataset(dataset, data_dir=data_dir, languages=language or ())
    found = validation.validate(loaded, run, measure)
    if form is Format.JSON:
        write_json(_document(found))
    elif form is Format.TABLE:
        _print(found)
    else:
        rows = [_row(one) for one in found.checks] + [_power_row(one) for one in found.power]
        write_rows(form, _COLUMNS, rows)
    return BROKEN if found.broken else 0


def _repository(name: str) -> tuple[Path, Files]:
    """The folder that a name or a spec is of, and which of its files are indexed."""
    from chunkers.plugins.spec import bind, parse_spec
    from harness.datasets.loaders import repo

    if not name.startswith("repo:"):
        return Path(name), "code"
    bound = bind(repo.load, parse_spec(name), "dataset")
    return Path(bound["argument"]), bound.get("files", "code")


def _suggest(name: str, file: Path, languages: Mapping[str, str], form: Format) -> None:
    """Name the places of a repository that share words with each question of a file."""
    from chunkers.errors import InputError
    from harness.building.questions import read_questions
    from harness.building.suggest import suggest
    from harness.building.tree import read_tree, rules_for, without_file
    from harness.model import Corpus

    root, files = _repository(name)
    if not root.is_dir():
        raise InputError(f"{root} is no folder; --suggest looks for places in a repository")
    questions = read_questions(file)
    tree = without_file(read_tree(root, rules_for(files, languages)), root, file)
    found = suggest(Corpus("repo", tree.sources, tree.skipped), questions)
    if form is Format.JSON:
        rows = [
            {
                "id": one.id,
                "text": one.text,
                "targets": list(one.targets),
                "candidates": [dataclasses.asdict(each) for each in found[one.id]],
            }
            for one in questions
        ]
        write_json({"schema": "chunkmark.dataset-suggest/1", "questions": rows})
        return
    columns = ("question", "text", "candidate", "shared words")
    write_rows(
        form,
        columns,
        [
            (one.id, one.text[:_TEXT], *((each.place, " ".join(each.words)) if each else ("", "")))
            for one in questions
            for each in found[one.id] or (None,)
        ],
    )


def _document(found: Validation) -> dict[str, Any]:
    document = dataclasses.asdict(found)
    for power in document["power"]:
        power["queries_for"] = {str(one): count for one, count in power["queries_for"].items()}
    verdict = "broken" if found.broken else "sound"
    return {"schema": "chunkmark.dataset-validate/1", "verdict": verdict, **document}


def _row(one: ValidationCheck) -> tuple[str, ...]:
    return (one.check, one.state, one.found, one.reading, _such(one.examples))


def _such(examples: tuple[str, ...]) -> str:
    more = f" and {len(examples) - _SHOWN} more" if len(examples) > _SHOWN else ""
    return ", ".join(examples[:_SHOWN]) + more


def _power_row(one: Power) -> tuple[str, ...]:
    return ("power", "ok", _seen(one), _takes(one), one.assumed)


def _seen(one: Power) -> str:
    # No measure between 0 and 1 differs by more.
    what = f"a difference of {100 * one.mdd:.1f} points" if one.mdd <= 1 else "no difference"
    return f"{one.queries} queries in {one.clusters} clusters show {what} (sd {one.sd:.3f})"


def _takes(one: Power) -> str:
    each = ", ".join(f"{points}: {count}" for points, count in one.queries_for.items())
    return f"queries that show so many points: {each}"


def _print(found: Validation) -> None:
    from harness.reports.tables import plain

    shown = console()
    head = f"{found.dataset}: {found.queries} queries, {found.corpora} corpora, data "
    shown.print(plain(head + found.fingerprint[:12]), style="bold")
    for one in found.checks:
        mark = {"broken": "BROKEN ", "finding": "finding", "ok": "ok     "}[one.state]
        shown.print(f"  {mark}  {plain(one.check)}: {plain(one.found)}")
        such = f"; such as {_such(one.examples)}" if one.examples else ""
        shown.print(f"           {plain(one.reading + such)}", style="dim")
    for power in found.power:
        shown.print(f"  power    {plain(_seen(power))}")
        shown.print(f"           {plain(_takes(power))}", style="dim")
        shown.print(f"           {plain(power.assumed)}", style="dim")
    if found.power:
        shown.print("           all for these corpora, one pair, two-sided at 5 %", style="dim")
    else:
        shown.print("  power    one cluster: how much scores scatter cannot be told")
    write(
        "broken: see above" if found.broken else "nothing is broken; findings stand beside scores"
    )
