"""Evaluates a model on a BEIR folder as MTEB does, and prints the scores: FOLDER MODEL."""

import json
import sys
from pathlib import Path

import mteb
from mteb.abstasks.retrieval import AbsTaskRetrieval
from mteb.abstasks.task_metadata import TaskMetadata
from sentence_transformers import SentenceTransformer

from datasets import Dataset


class FolderTask(AbsTaskRetrieval):
    """The folder as a task of MTEB, which loads nothing from the hub."""

    folder = Path(sys.argv[1])
    metadata = TaskMetadata(
        name="FolderTask", description="A folder in BEIR's layout.", type="Retrieval",
        dataset={"path": "none", "revision": "none"}, category="t2t", modalities=["text"],
        eval_splits=["test"], eval_langs=["eng-Latn"], main_score="ndcg_at_10", reference=None,
        date=None, domains=None, task_subtypes=None, license=None, annotations_creators=None,
        dialect=None, sample_creation=None, bibtex_citation=None,
    )  # fmt: skip

    def load_data(self, num_proc=None, **options):
        """Read corpus, queries and judgements."""
        qrels = {}
        for line in (self.folder / "qrels/test.tsv").read_text("utf-8").splitlines()[1:]:
            query, document, grade = line.split("\t")
            qrels.setdefault(query, {})[document] = int(grade)
        self.dataset = {"default": {"test": {
            "corpus": Dataset.from_list(self.rows("corpus.jsonl", "title", "text")),
            "queries": Dataset.from_list(self.rows("queries.jsonl", "text")),
            "relevant_docs": qrels,
            "top_ranked": None,
        }}}  # fmt: skip
        self.data_loaded = True

    def rows(self, name, *fields):
        """The id and the fields of each line."""
        lines = (self.folder / name).read_text("utf-8").split("\n")
        rows = [json.loads(line) for line in lines if line]
        return [{"id": row["_id"], **{field: row[field] for field in fields}} for row in rows]


result = mteb.evaluate(
    SentenceTransformer(sys.argv[2]), FolderTask(), cache=None, co2_tracker=False,
    show_progress_bar=False, encode_kwargs={"batch_size": 32, "show_progress_bar": False},
)  # fmt: skip
print(json.dumps(result.task_results[0].scores["test"][0]))
