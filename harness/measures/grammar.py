"""The grammar of measure names: `nDCG@10`, `MRR`, `SpanR@10000c`, and their usual spellings."""

from __future__ import annotations

import difflib
import importlib
import pkgutil
import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from chunkers.errors import InputError, UnknownPartError
from harness.measures import catalog
from harness.measures.text_measures import TEXT_FAMILIES, TextFamily

if TYPE_CHECKING:
    from collections.abc import Iterable

    from harness.measures.family import Family

_NAME = re.compile(r"\s*(?P<name>[^@]*?)\s*(?:(?:@|_at_)(?P<cut>[^@]*))?\s*", re.IGNORECASE)
# trec_eval's own names: `ndcg_cut_10`, `P.10`.
_TREC_NAME = re.compile(r"(?P<name>ndcg_cut|map_cut|P|recall|success)[_.](?P<cut>[0-9]+)")
# Measures of all that is retrieved, in trec_eval and ir_measures; they take no cut-off.
_OF_SETS = {"setp": "P", "setr": "R", "setrecall": "R", "setf": "F1", "setf1": "F1"}
_CUT = re.compile(r"0*(?P<number>[1-9][0-9]{0,14})(?P<unit>[A-Za-z]*)")


@dataclass(frozen=True)
class Measure:
    """A measure with its cut-off; `str()` prints the canonical name.

    Attributes:
        family: Name of the family, such as `nDCG`.
        cut: The cut-off: a number of ranks, or a budget; None where uncut.
        unit: Unit of a budget: `c`, non-white-space characters; None for ranks.
    """

    family: str
    cut: int | None = None
    unit: str | None = None

    def __str__(self) -> str:
        return self.family if self.cut is None else f"{self.family}@{self.cut}{self.unit or ''}"


def _is_measure(text: str) -> bool:
    match = _NAME.fullmatch(text)
    return match is not None and _find(match["name"]) is not None


def _refuse_several(text: str, repeat: str) -> None:
    """Refuse measures in one text, between commas or blanks."""
    parts = re.split(r"[,\s]+", text.strip())
    if len(parts) > 1 and all(map(_is_measure, parts)):
        advice = f"give one at a time, such as {parts[0]}"
        if repeat:
            advice = f"repeat the option: {' '.join(f'{repeat} {part}' for part in parts)}"
        raise InputError(f"{text!r} names {len(parts)} measures; {advice}")


def parse_measure(text: str, *, repeat: str = "-m") -> Measure:
    """The measure of a name.

    Args:
        text: The name.
        repeat: The option that takes one measure and is repeated for more; empty where there is
            but one measure.

    Raises:
        InputError: An unknown name, or a cut-off that is missing, not allowed or not a positive
            whole number.
    """
    if trec := _TREC_NAME.fullmatch(text.strip()):
        text = f"{trec['name'].removesuffix('_cut')}@{trec['cut']}"
    text = _OF_SETS.get(_plain(text), text)
    match = _NAME.fullmatch(text)
    family = _find(match["name"]) if match else None
    if match is None or family is None:
        _refuse_several(text, repeat)
        raise UnknownPartError(f"unknown measure {text!r}; {_nearest(text)}", "measure", text)
    cut = match["cut"]
    if cut is None:
        if family.cut in ("rank", "budget"):
            same = _plain(match["name"]) == _plain(family.name)
            which = "" if same else f" is {family.name}, which"
            raise InputError(f"{text!r}{which} needs a cut-off; write {_example(family)}")
        return Measure(family.name)
    if family.cut == "none":
        raise InputError(f"{family.name} takes no cut-off, but got {text!r}; write {family.name}")
    number = _CUT.fullmatch(cut.strip())
    unit = "c" if family.cut == "budget" else ""
    if number is None or number["unit"].lower() != unit:
        _refuse_several(text, repeat)
        kind = "non-white-space characters, with the unit c" if unit else "ranks"
        alone = unit and number is not None and not number["unit"]
        example = f"{family.name}@{number['number']}c" if alone and number else _example(family)
        if family.cut == "optional":
            example = f"{family.name} or {example}"
        raise InputError(
            f"{text!r}: the cut-off must be a positive whole number of {kind}; write {example}"
        )
    return Measure(family.name, int(number["number"]), unit or None)


def family_named(name: str) -> str:
    """The family of a name, of an alias or of a measure with its cut-off.

    Raises:
        InputError: The name is unknown.
    """
    family = _find(name)
    return parse_measure(name).family if family is None else family.name


def same_family(name: str, names: Iterable[str]) -> list[str]:
    """The measures of some names that differ from one in their cut-off alone."""
    family = name.partition("@")[0]
    return [other for other in names if other.partition("@")[0] == family]


def is_of_texts(measure: Measure) -> bool:
    """Whether a measure compares the texts of records; such a measure is not for cells."""
    return any(measure.family == family.name for family in TEXT_FAMILIES)


@cache
def list_families() -> tuple[Family, ...]:
    """All families: those that the modules of `harness.measures.catalog` list, by module name."""
    names = sorted(module.name for module in pkgutil.iter_modules(catalog.__path__))
    modules = [importlib.import_module(f"{catalog.__name__}.{name}") for name in names]
    return tuple(family for module in modules for family in module.FAMILIES)


def list_all() -> tuple[Family | TextFamily, ...]:
    """All families; those of texts are last."""
    return (*list_families(), *TEXT_FAMILIES)


def family_of(measure: Measure) -> Family:
    """The family of a measure.

    Raises:
        InputError: The name is unknown, or the measure compares texts, which cells do not have.
    """
    for family in list_families():
        if family.name == measure.family:
            return family
    if is_of_texts(measure):
        raise InputError(f"{measure} compares texts of records; use `chunkmark score`")
    message = f"unknown measure {str(measure)!r}; {_nearest(measure.family)}"
    raise UnknownPartError(message, "measure", measure.family)


def comparable(measure: Measure, *, spans: bool) -> bool:
    """Whether values of different chunkers are comparable.

    Where gold is lines of files (`spans`), the number of relevant chunks depends on the chunker;
    only measures of characters and files do not. The best IoU of k chunks depends on their size.
    """
    return not spans or (family_of(measure).lines and measure.family != "IoU")


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]", "", name).lower()


def _find(name: str) -> Family | TextFamily | None:
    for family in list_all():
        if name == family.name:
            return family
    plain = _plain(name)
    matches = [
        family
        for family in list_all()
        if plain in {_plain(alias) for alias in (family.name, *family.aliases)}
    ]
    return matches[0] if len(matches) == 1 else None


def _example(family: Family | TextFamily) -> str:
    return (
        family.name
        + {"rank": "@10", "optional": "@10", "none": "", "budget": "@10000c"}[family.cut]
    )


def _nearest(text: str) -> str:
    spellings = {
        _plain(name): family for family in list_all() for name in (*family.aliases, family.name)
    }
    joined = re.fullmatch(r"(?P<name>.*[^0-9])(?P<cut>[1-9][0-9]*)c?", text)
    if joined and (family := _find(joined["name"])) and family.cut != "none":
        return f"did you mean {family.name}@{joined['cut']}{'c' * (family.cut == 'budget')}?"
    base = re.split(r"@|_at_", text, maxsplit=1, flags=re.IGNORECASE)[0]
    near = difflib.get_close_matches(_plain(base), spellings, n=4, cutoff=0.6)
    cut = len(base) < len(text)
    families = [spellings[name] for name in near]
    examples = dict.fromkeys(
        _example(family) if cut or family.cut in ("rank", "budget") else family.name
        for family in families
    )
    if examples:
        return f"did you mean {' or '.join(examples)}?"
    return "see `chunkmark list measures`"
