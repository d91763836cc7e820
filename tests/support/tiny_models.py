"""Tiny models of every kind of tokenizer, made on the spot with fixed random weights.

Each function writes a plain Hugging Face checkpoint into a folder: `config.json`,
`model.safetensors` and what its tokenizer needs.
"""

from functools import cache
from pathlib import Path

WIDTH = 32
_SHAPE = {"num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
_CORPUS = Path(__file__).parents[2] / "chunkers"


def _saved(folder, make, tokenizer):
    import torch

    with torch.random.fork_rng():
        torch.manual_seed(0)
        make().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def byt5(folder):
    """Bytes; an encoder-decoder as published, with relative positions and no stated limit."""
    from transformers import ByT5Tokenizer, T5Config, T5ForConditionalGeneration

    config = T5Config(
        vocab_size=384, d_model=WIDTH, d_kv=8, d_ff=64, num_layers=2, num_heads=4,
        feed_forward_proj="gated-gelu", tie_word_embeddings=False, decoder_start_token_id=0,
    )  # fmt: skip
    return _saved(folder, lambda: T5ForConditionalGeneration(config), ByT5Tokenizer())


def canine(folder):
    """Characters; convolutions over four of them."""
    from transformers import CanineConfig, CanineModel, CanineTokenizer

    config = CanineConfig(
        hidden_size=WIDTH, num_hash_buckets=4096, max_position_embeddings=4096, **_SHAPE
    )
    return _saved(folder, lambda: CanineModel(config), CanineTokenizer())


def roberta(folder, *, prefix_space=False):
    """Byte-level BPE between special tokens; positions count from the one behind the padding."""
    from tokenizers import pre_tokenizers, processors
    from transformers import RobertaConfig, RobertaForMaskedLM

    tokenizer = bpe()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix_space)
    ends = ("</s>", tokenizer.token_to_id("</s>")), ("<s>", tokenizer.token_to_id("<s>"))
    tokenizer.post_processor = processors.RobertaProcessing(*ends, add_prefix_space=prefix_space)
    config = RobertaConfig(
        vocab_size=tokenizer.get_vocab_size(), hidden_size=WIDTH, max_position_embeddings=130,
        type_vocab_size=1, bos_token_id=0, pad_token_id=1, eos_token_id=2, **_SHAPE,
    )  # fmt: skip
    names = {"cls_token": "<s>", "sep_token": "</s>", "pad_token": "<pad>", "mask_token": "<mask>"}
    return _saved(folder, lambda: RobertaForMaskedLM(config), _fast(tokenizer, **names))


def modernbert(folder):
    """Byte-level BPE with rotary positions and local attention."""
    from tokenizers import processors
    from transformers import ModernBertConfig, ModernBertModel

    tokenizer = bpe()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    config = ModernBertConfig(
        vocab_size=tokenizer.get_vocab_size(), hidden_size=WIDTH, max_position_embeddings=256,
        pad_token_id=1, cls_token_id=0, sep_token_id=2, bos_token_id=0, eos_token_id=2,
        local_attention=16, **(_SHAPE | {"num_hidden_layers": 3}),
    )  # fmt: skip
    names = {"cls_token": "<s>", "sep_token": "</s>", "pad_token": "<pad>", "mask_token": "<mask>"}
    return _saved(folder, lambda: ModernBertModel(config), _fast(tokenizer, **names))


def prefixed(folder):
    """Byte-level BPE that reads every text as if a space came first; places leave spaces out."""
    return roberta(folder, prefix_space=True)


def metaspace(folder):
    """BPE that marks the beginning of words, as SentencePiece does, and drops other white space."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
    from transformers import BertConfig, BertModel

    names = {"unk_token": "[UNK]", "pad_token": "[PAD]", "eos_token": "</s>"}
    tokenizer = Tokenizer(models.BPE(unk_token=names["unk_token"]))
    words = pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(list(words))
    special = ["[PAD]", "[UNK]", "</s>"]
    trainer = trainers.BpeTrainer(vocab_size=500, special_tokens=special, show_progress=False)
    tokenizer.train_from_iterator(_texts(), trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", 2)]
    )
    config = BertConfig(
        vocab_size=tokenizer.get_vocab_size(), hidden_size=WIDTH, max_position_embeddings=96,
        **_SHAPE,
    )  # fmt: skip
    return _saved(folder, lambda: BertModel(config), _fast(tokenizer, **names))


def sentence_model(checkpoint, folder, *, pooling="mean", more=(), prompts=None):
    """A checkpoint as a sentence-transformers model with a pooling and further modules."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer import modules

    transformer = modules.Transformer(str(checkpoint))
    made = [transformer, modules.Pooling(WIDTH, pooling)]
    made += [getattr(modules, kind)(*arguments) for kind, *arguments in more]
    SentenceTransformer(modules=made, prompts=prompts, device="cpu").save(str(folder))
    return folder


def gpt2(folder):
    """Byte-level BPE without special tokens or padding, and attention to the left alone."""
    from transformers import GPT2Config, GPT2LMHeadModel

    tokenizer = bpe()
    config = GPT2Config(
        vocab_size=tokenizer.get_vocab_size(), n_embd=WIDTH, n_layer=2, n_head=4, n_positions=128,
        bos_token_id=2, eos_token_id=2,
    )  # fmt: skip
    names = {"eos_token": "</s>"}
    return _saved(folder, lambda: GPT2LMHeadModel(config), _fast(tokenizer, **names))


def bert(folder):
    """WordPiece with token types."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import BertConfig, BertModel

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    unknown = {"unk_token": "[UNK]"}
    tokenizer = Tokenizer(models.WordPiece(**unknown))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.train_from_iterator(
        _texts(), trainers.WordPieceTrainer(vocab_size=500, special_tokens=special)
    )
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    config = BertConfig(
        vocab_size=tokenizer.get_vocab_size(), hidden_size=WIDTH, max_position_embeddings=128,
        **_SHAPE,
    )  # fmt: skip
    names = {"cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]"}
    inputs = ["input_ids", "token_type_ids", "attention_mask"]
    fast = _fast(tokenizer, model_input_names=inputs, **unknown, **names)
    return _saved(folder, lambda: BertModel(config), fast)


KINDS = {
    "byt5": byt5,
    "canine": canine,
    "roberta": roberta,
    "modernbert": modernbert,
    "gpt2": gpt2,
    "bert": bert,
}


def bpe():
    """A byte-level BPE tokenizer of the `tokenizers` library, trained on code."""
    from tokenizers import Tokenizer

    return Tokenizer.from_str(_trained_bpe())


@cache
def _trained_bpe():
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=800,
        special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(_texts(), trainer)
    return tokenizer.to_str()


def _texts():
    return [path.read_text("utf-8") for path in sorted(_CORPUS.glob("*.py"))]


def _fast(tokenizer, **names):
    from transformers import PreTrainedTokenizerFast

    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names)
