"""nDCG of units that are the same for every chunker: runs of lines."""

from __future__ import annotations

from harness.measures.catalog.ranking import ndcg
from harness.measures.family import Family

FAMILIES = (
    Family(
        name="pnDCG",
        description=(
            "nDCG@k of runs of 10 non-blank lines, gain binary: a line scores as its best chunk, a "
            "run as the mean of its lines, what is not ranked or not scored as the lowest; places "
            "count as scores where scores contradict them; gold: runs with a line of a target"
        ),
        source="chunkmark: scores of chunks projected on lines",
        cut="rank",
        evaluate=ndcg,
        aliases=("projected_ndcg",),
        lines=True,
        projected=True,
    ),
)
