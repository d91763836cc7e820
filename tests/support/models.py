"""A tiny cross-encoder of fixed random weights: `python tests/support/models.py FOLDER` makes it.

Its scores mean nothing. It is there to be loaded, fed and repeated like a real one.
"""

import string
import sys
from pathlib import Path

LIMIT = 64
_UNKNOWN = {"unk_token": "[UNK]"}
_NAMES = {"pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]", "mask_token": "[MASK]"}
_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_WORDS = ("def", "return", "self", "class", "import", "parse", "url", "value", "for", "in", "if")
_MARKS = string.ascii_lowercase + string.digits + "_()[]{}.,:;=+-*/<>'\"#@!?&|%"


def tiny_cross_encoder(folder, seed=0, limit=LIMIT):
    """Write a BERT with one label into a folder, as safetensors, and its WordPiece vocabulary."""
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

    words = [*_SPECIAL, *_WORDS, *_MARKS, *(f"##{mark}" for mark in _MARKS)]
    vocabulary = {word: number for number, word in enumerate(words)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, **_UNKNOWN))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])],
    )
    config = BertConfig(
        vocab_size=len(words), hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=64, max_position_embeddings=limit, num_labels=1,
        initializer_range=0.3,
    )  # fmt: skip
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        BertForSequenceClassification(config).eval().save_pretrained(folder)
    inputs = ["input_ids", "token_type_ids", "attention_mask"]
    names = _UNKNOWN | _NAMES | {"model_max_length": limit, "model_input_names": inputs}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names).save_pretrained(folder)
    return Path(folder)


if __name__ == "__main__":
    (target,) = sys.argv[1:]
    print(tiny_cross_encoder(target))
