"""Cards of models: the revision, prompts, pooling and limit that published figures rest on."""

from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta

from chunkers.errors import InputError
from harness.support.card_folder import cards_dir, read_toml
from harness.support.rows import Table, Text


class ModelCard(Table, kw_only=True):
    """One file of `datasets/models`.

    Attributes:
        name: What `st:NAME` takes, and the file's name.
        hub: Its name on the Hugging Face hub, which `st:` takes too.
        revision: The hash of a commit there.
        embedder: The built-in embedder with these weights, if there is one.
        licence: Of the weights.
        dimension: Width of its vectors.
        max_tokens: Tokens of a text that it sees, special ones and the prompt's included.
        pooling: How the vectors of a text's tokens become one.
        normalised: Whether the model returns unit vectors.
        similarity: How two vectors are compared.
        prompt: Put before every document.
        query_prompt: Put before every query.
        source: Where it is described.
    """

    name: Text
    hub: Annotated[str, Meta(pattern=r"^[\w.-]+/[\w.-]+\Z")]
    revision: Annotated[str, Meta(pattern=r"^[0-9a-f]{40}\Z")]
    embedder: Text | None = None
    licence: Text
    dimension: Annotated[int, Meta(gt=0)]
    max_tokens: Annotated[int, Meta(gt=0)]
    pooling: Literal["mean", "cls", "lasttoken"]
    normalised: bool
    similarity: Literal["cosine"]
    prompt: str
    query_prompt: str
    source: Text

    @property
    def specs(self) -> tuple[str, ...]:
        """The embedders that are this model, used as the card says."""
        own = () if self.embedder is None else (self.embedder,)
        return (*own, f"st:{self.name}", f"st:{self.hub}")

    @property
    def description(self) -> str:
        """One line for lists."""
        prompts = [text for text in (self.query_prompt, self.prompt) if text]
        return (
            f"{self.hub}, {self.dimension} dimensions, {self.max_tokens} tokens, {self.pooling}"
            + (f", prompts {' and '.join(map(repr, prompts))}" if prompts else "")
        )


def list_models() -> list[ModelCard]:
    """The cards of all models, in order of name.

    Raises:
        InputError: A card is damaged.
    """
    return [_read(file) for file in sorted((cards_dir() / "models").glob("*.toml"))]


def find_model(name: str) -> ModelCard | None:
    """The card of this name, or of this name on the hub; None if there is none."""
    return next((card for card in list_models() if name in (card.name, card.hub)), None)


def _read(file: Path) -> ModelCard:
    card = read_toml(file, ModelCard)
    if card.name != file.stem:
        raise InputError(f"{file}: the name {card.name!r} is not its file's")
    return card


def refuse_other_model(model: Any, card: ModelCard, who: str) -> None:
    """Refuse a SentenceTransformer that is not as its card says.

    Raises:
        InputError: It pools in another way, or has another dimension.
    """
    pooling = [module.pooling_mode for module in model if hasattr(module, "pooling_mode")]
    stated = {"pooling": card.pooling, "dimension": card.dimension}
    loaded = {"pooling": "+".join(map(str, pooling)), "dimension": model.get_embedding_dimension()}
    for key, value in stated.items():
        if loaded[key] != value:
            raise InputError(f"{who}: its {key} is {loaded[key]}, but its card says {value}")
