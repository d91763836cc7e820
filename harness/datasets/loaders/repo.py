"""A repository as a data set, made in memory."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from harness.building.build import BuildOptions, build
from harness.building.built_queries import Names  # noqa: TC001 - the options of a spec are read by it
from harness.building.tree import Files, LongLines, Reading

if TYPE_CHECKING:
    from collections.abc import Mapping

    from harness.datasets.cards import Card
    from harness.model import Dataset
    from harness.support.progress import Tell


def load(
    card: Card,
    data_dir: Path | None,
    languages: Mapping[str, str],
    tell: Tell,
    *,
    argument: str,
    queries: str = "docstring",
    whole: bool = False,
    files: Files = "code",
    limit: int | None = None,
    seed: int = 0,
    since: str | None = None,
    include: str = "",
    exclude: str = "",
    encoding: str = "",
    long_lines: LongLines = "cut",
    names: Names = "kept",
    leave_out: str | None = None,
) -> Dataset:
    """Make a data set of the folder `argument`.

    Args:
        card: Not looked at.
        data_dir: Not looked at.
        languages: Language by pattern.
        tell: Gets the progress of reading commits.
        argument: The folder.
        queries: `docstring`, `commits`, `calls`, or a file of questions.
        whole: Whether all of a doc comment is the query, not its first sentence.
        files: `code`, or `all` files of known languages, data and prose included.
        limit: How many queries are drawn; of commits 100 by default, else all are taken.
        seed: Of the sample.
        since: Only commits from this date on, such as `2024-05-31`.
        include: Patterns as in .gitignore, separated by white space, of files to index although
            git ignores them, a tool wrote them or their folder is not entered, such as `vendor/`.
        exclude: Such patterns of files not to index.
        encoding: Encodings of files that are not UTF-8, by pattern, such as `src/**=cp1251`.
        long_lines: Whether a very long line among ordinary ones is `cut`, or its file `skip`ped.
        names: `kept`, or `stripped` to take names of definitions out of their doc comments.
        leave_out: A file of ids of queries that are left out, one a line.

    Raises:
        InputError: As for `harness.building.build.build`.
    """
    del card, data_dir
    reading = Reading(files, languages, include, exclude, encoding, long_lines)
    rejected = None if leave_out is None else Path(leave_out)
    wanted = BuildOptions(
        queries, whole, limit, seed, since, reading, names=names, leave_out=rejected
    )
    return build(Path(argument), wanted, tell)
