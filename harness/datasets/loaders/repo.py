"""A repository as a data set, made in memory."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from harness.building.build import BuildOptions, build
from harness.building.tree import Files  # noqa: TC001 - the options of a spec are read by it

if TYPE_CHECKING:
    from collections.abc import Mapping

    from harness.datasets.cards import Card
    from harness.model import Dataset


def load(
    card: Card,
    data_dir: Path | None,
    languages: Mapping[str, str],
    *,
    argument: str,
    queries: str = "docstring",
    whole: bool = False,
    files: Files = "code",
    limit: int | None = None,
    seed: int = 0,
    since: str | None = None,
) -> Dataset:
    """Make a data set of the folder `argument`.

    Args:
        card: Not looked at.
        data_dir: Not looked at.
        languages: Language by pattern.
        argument: The folder.
        queries: `docstring`, `commits`, `calls`, or a file of questions.
        whole: Whether all of a doc comment is the query, not its first sentence.
        files: `code`, or `all` files of known languages, data and prose included.
        limit: How many queries are drawn; of commits 100 by default, else all are taken.
        seed: Of the sample.
        since: Only commits from this date on, such as `2024-05-31`.

    Raises:
        InputError: As for `harness.building.build.build`.
    """
    del card, data_dir
    wanted = BuildOptions(queries, whole, files, limit, seed, since, languages)
    return build(Path(argument), wanted)
