"""Finds a data set by its spec and loads it."""

from __future__ import annotations

import dataclasses
import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chunkers.errors import STOPPING, InputError, UnknownPartError, reason_of, see, suggestion
from chunkers.languages import parse_overrides, pattern_of
from chunkers.plugins.registry import PluginEntry
from chunkers.plugins.spec import Spec, bind, canonical, parse_spec
from harness.datasets.cards import card_names, load_card
from harness.datasets.negatives import Kind  # noqa: TC001 # read to convert the option
from harness.datasets.registry import DATASETS, LIST
from harness.model import Dataset, Relevance, Rule
from harness.reading.stored_text import relabelled, text_space
from harness.support.json_files import read_json
from harness.support.paths import refuse_address
from harness.support.progress import silent
from harness.support.space import parse_space
from harness.support.wording import counted

_QUESTIONS = (".csv", ".jsonl", ".yaml", ".yml")

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from chunkers.source import Source
    from harness.datasets.cards import Card
    from harness.support.progress import Tell


def load_dataset(
    spec: str | Spec,
    *,
    data_dir: Path | None = None,
    languages: Iterable[str] = (),
    seed: int = 0,
    memory: str | None = None,
    tell: Tell = silent,
) -> Dataset:
    """Load a data set.

    Cards come first, then the entry points of the group `chunkmark.datasets`, then `module:attr`.
    A card names a function `load(card, data_dir, *, key=default, ...)`; the other two are a
    function `load(data_dir, *, key=default, ...)`. Its keyword-only parameters are the spec's
    keys, and `argument` is the bare argument. Every data set also has the keys `relevance`
    (`overlap`, `iou`, `share` or `graded`), `threshold`, and `negatives` and `negatives_count`
    (`harness.datasets.negatives.mining`). A loader with a parameter `languages`
    before its keys is given the languages by pattern, as
    `harness.reading.reader.ReadRules.languages` takes them, so that it can index what no table
    names; one with a parameter `tell`, what takes a phase and the numbers of finished steps and of
    all.

    Args:
        spec: Such as `repoeval-function:target=body`.
        data_dir: A folder looked into before `$CHUNKMARK_DATA`.
        languages: `PATTERN=LANGUAGE`: the language of files, by name or path; the last pattern
            that fits a file decides. See `chunkers.languages.language_of`.
        seed: Random seed.
        memory: Memory such as 2GB, of which the texts of this data set take a fifth at most, apart
            from those of others; the rest is kept in a file and read when it is used. Default: no
            limit.
        tell: Gets the progress of loaders that report it.

    Returns:
        The data set, named by the spec in canonical form. Where `languages` are given, its
        information says how many files each pattern decided.

    Raises:
        InputError: A language, the spec, or one of its keys or values is unknown, or the data is
            missing or damaged.
    """
    with text_space(parse_space(memory)):
        return _load(spec, data_dir, languages, seed, tell)


def _load(
    spec: str | Spec, data_dir: Path | None, languages: Iterable[str], seed: int, tell: Tell
) -> Dataset:
    overrides = parse_overrides(languages)
    if isinstance(spec, str):
        _refuse_folder(spec)
    spec = parse_spec(spec) if isinstance(spec, str) else spec
    positional: tuple[Any, ...]
    if spec.name in card_names():
        card = load_card(spec.name)
        load = DATASETS.load(PluginEntry(card.name, card.loader, "its card"))
        positional = (card, data_dir)
    else:
        entry, spec = _plug_in(spec)
        load = DATASETS.load(entry)
        positional = (data_dir,)
    bound = bind(load, spec, "data set", _common)
    name = canonical(load, spec, bound, _common)
    shared = inspect.signature(_common).parameters.keys() - inspect.signature(load).parameters
    common = {key: bound.pop(key) for key in shared & bound.keys()}
    relevance, negatives, count = _common(**common)
    if "languages" in inspect.signature(load).parameters:
        bound["languages"] = overrides
    if "tell" in inspect.signature(load).parameters:
        bound["tell"] = tell
    try:
        dataset = load(*positional, **bound)
    except InputError:
        raise
    # A plug-in may raise anything.
    except BaseException as error:
        if type(error) in STOPPING or spec.name in card_names():
            raise
        raise InputError(
            f"data set {spec.name}: its loader failed: {reason_of(error)}{see(error)}\n"
            "a loader is a function load(data_dir) that returns a Dataset"
        ) from error
    if not isinstance(dataset, Dataset):
        raise InputError(
            f"data set {spec.name}: its loader returned {type(dataset).__name__}, not a Dataset"
        )
    if dataset.gold == "document" and not common.keys().isdisjoint(("relevance", "threshold")):
        raise InputError(f"data set {spec.name}: its gold is documents; relevance= is for lines")
    dataset = dataclasses.replace(dataset, name=name, relevance=relevance)
    dataset = _relabelled(dataset, overrides) if overrides else dataset
    if negatives == "none" and "negatives_count" in common:
        raise InputError(f"data set {spec.name}: negatives_count needs the option negatives")
    if negatives == "none":
        return dataset
    from harness.datasets.negatives.mining import add_negatives

    return add_negatives(dataset, negatives, count, seed=seed)


def _refuse_folder(text: str) -> None:
    """Refuse the path of a folder in place of a spec."""
    folder = Path(text)
    if text in card_names() or text in DATASETS.entries() or not folder.is_dir():
        return
    from harness.runs.folder import dataset_spec, is_run_folder

    if is_run_folder(folder):
        names = read_json(folder / "manifest.json").get("datasets")
        known = f": {', '.join(names)}" if isinstance(names, dict) else ""
        raise InputError(f"{text} is a run folder, not a data set; give a data set of it{known}")
    spec = dataclasses.replace(dataset_spec(folder), argument=text)
    raise InputError(f"{text} is a folder; name it as {spec}")


def _relabelled(dataset: Dataset, overrides: Mapping[str, str]) -> Dataset:
    """A data set with the languages of its files set by patterns."""
    decided = dict.fromkeys(overrides, 0)

    def with_language(source: Source) -> Source:
        pattern = pattern_of(source.path, overrides)
        if pattern is None:
            return source
        decided[pattern] += 1
        return relabelled(source, language=overrides[pattern])

    corpora = tuple(
        dataclasses.replace(corpus, sources=tuple(map(with_language, corpus.sources)))
        for corpus in dataset.corpora
    )
    note = ", ".join(
        f"{pattern}={overrides[pattern]}: {counted(count, 'file')}"
        for pattern, count in decided.items()
    )
    information = {**dataset.information, "languages": note}
    return dataclasses.replace(dataset, corpora=corpora, information=information)


def options_of(card: Card) -> Iterator[str]:
    """The options of a data set with a card, each as `key=` and its default."""
    load = DATASETS.load(PluginEntry(card.name, card.loader, "its card"))
    for function in (load, _common):
        for name, parameter in inspect.signature(function).parameters.items():
            given = parameter.kind is not parameter.KEYWORD_ONLY or name in card.settings
            if not given and name not in ("argument", "languages", "tell"):
                default = "" if parameter.default is None else parameter.default
                yield f"{name}={default}"


def _common(
    *,
    relevance: Rule = "overlap",
    threshold: float = 0.5,
    negatives: Kind = "none",
    negatives_count: int = 50,
) -> tuple[Relevance, Kind, int]:
    """The keys that every data set has."""
    return Relevance(relevance, threshold), negatives, negatives_count


def _plug_in(spec: Spec) -> tuple[PluginEntry, Spec]:
    """The entry point or the Python object that a spec names, and the spec of its options."""
    names = DATASETS.entries()
    file = Path(spec.argument or spec.name)
    if spec.name not in names and file.suffix in _QUESTIONS and file.is_file():
        advice = f"for questions of your own write repo:PATH,queries={file}"
        raise InputError(f"unknown data set {str(spec)!r}; {advice}")
    if spec.name not in names and spec.argument is None:
        near = suggestion(spec.name, sorted({*names, *card_names()}), LIST)
        if "/" in spec.name and not Path(spec.name).exists():
            raise InputError(
                f"{spec.name} does not exist; give a data set, or a folder as repo:PATH"
            )
        if "/" in spec.name or spec.name == "." or Path(spec.name).is_file():
            near = "for a folder write repo:PATH or built:FOLDER"
        message = f"unknown data set {spec.name!r}; {near}"
        raise UnknownPartError(message, DATASETS.kind, spec.name)
    refuse_address(Path(str(spec)))
    return DATASETS.find(spec)
