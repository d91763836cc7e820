"""Other people's chunkers, called as their own documentation has it, to hold adapters against."""

from functools import partial

import pytest

from chunkers.testing.services import count_tokens, embed

# Adapter -> the module of its library.
MODULES = {
    "astchunk": "astchunk",
    "chonkie-code": "chonkie",
    "chonkie-recursive": "chonkie",
    "chonkie-semantic": "chonkie",
    "chonkie-token": "chonkie",
    "langchain-code": "langchain_text_splitters",
    "langchain-recursive": "langchain_text_splitters",
    "llamaindex-code": "llama_index.core",
    "llamaindex-semantic": "llama_index.core",
    "semchunk": "semchunk",
    "text-splitter-code": "semantic_text_splitter",
    "text-splitter-text": "semantic_text_splitter",
}


def need(spec):
    """Skip a test, by name, where the library of an adapter is missing."""
    name = spec.partition(":")[0]
    if MODULES[name] == "llama_index.core":
        pytest.importorskip("llama_index", reason=f"{name} needs the extra chunkers")
    return pytest.importorskip(MODULES[name], reason=f"{name} needs the extra chunkers")


def nws(text):
    return sum(not mark.isspace() for mark in text)


def _chonkie(kind, text, **options):
    import chonkie

    return [one.text for one in getattr(chonkie, kind)(**options).chunk(text)]


def _chonkie_semantic(text, size):
    from chonkie.embeddings import BaseEmbeddings

    class Cheap(BaseEmbeddings):
        dimension = 32

        def embed(self, text):
            return embed([text])[0]

        def get_tokenizer(self):
            return nws

    return _chonkie("SemanticChunker", text, embedding_model=Cheap(), chunk_size=size)


def _langchain(language, text, **options):
    from langchain_text_splitters import Language, RecursiveCharacterTextSplitter

    options = {"chunk_overlap": 0} | options
    if language:
        made = RecursiveCharacterTextSplitter.from_language(Language(language), **options)
    else:
        made = RecursiveCharacterTextSplitter(**options)
    return made.split_text(text)


def _llamaindex_code(text, **options):
    from llama_index.core.node_parser import CodeSplitter
    from tree_sitter import Language, Parser
    from tree_sitter_python import language

    return CodeSplitter("python", parser=Parser(Language(language())), **options).split_text(text)


def _llamaindex_semantic(text):
    from llama_index.core import Document
    from llama_index.core.base.embeddings.base import BaseEmbedding
    from llama_index.core.node_parser import SemanticSplitterNodeParser

    class Cheap(BaseEmbedding):
        def _get_text_embedding(self, text):
            return embed([text])[0].tolist()

        def _get_query_embedding(self, query):
            return self._get_text_embedding(query)

        async def _aget_query_embedding(self, query):
            return self._get_text_embedding(query)

    splitter = SemanticSplitterNodeParser(embed_model=Cheap())
    return [node.text for node in splitter.get_nodes_from_documents([Document(text=text)])]


def _astchunk(text, size, expansion):
    from astchunk import ASTChunkBuilder

    # So that no row of a point is read; see the adapter.
    pytest.importorskip("chunkers.adapters.astchunk")._library()
    builder = ASTChunkBuilder(max_chunk_size=size, language="python", metadata_template="default")
    windows = builder.chunkify(
        text, repo_level_metadata={"filepath": "folder/file"}, chunk_expansion=expansion
    )
    return [window["content"] for window in windows]


def _text_splitter(kind, text, size, **options):
    import semantic_text_splitter
    from tree_sitter_python import language

    of = [language()] if kind == "CodeSplitter" else []
    return getattr(semantic_text_splitter, kind)(*of, size, trim=False, **options).chunks(text)


def _semchunk(text, size, count, **options):
    import semchunk

    return semchunk.chunkerify(count, size)(text, **options)


def _words(text):
    return sum(count_tokens(line) for line in text.split("\n"))


# Spec of an adapter -> what its library returns for a Python file at folder/file.
DIRECT = {
    "astchunk:max_size=120": partial(_astchunk, size=120, expansion=False),
    "astchunk:max_size=120,expansion=on": partial(_astchunk, size=120, expansion=True),
    "chonkie-code:max_size=150,unit=chars": partial(
        _chonkie, "CodeChunker", chunk_size=150, language="python"
    ),
    "chonkie-code:max_size=120": partial(
        _chonkie, "CodeChunker", chunk_size=120, language="python", tokenizer=nws
    ),
    "chonkie-recursive:max_size=150,unit=chars": partial(
        _chonkie, "RecursiveChunker", chunk_size=150
    ),
    "chonkie-semantic:max_size=120": partial(_chonkie_semantic, size=120),
    "chonkie-token:max_size=150": partial(_chonkie, "TokenChunker", chunk_size=150),
    "chonkie-token:max_size=150,overlap=20": partial(
        _chonkie, "TokenChunker", chunk_size=150, chunk_overlap=20
    ),
    "langchain-code:max_size=150,unit=chars": partial(_langchain, "python", chunk_size=150),
    "langchain-code:max_size=150,unit=chars,strip=off": partial(
        _langchain, "python", chunk_size=150, strip_whitespace=False
    ),
    "langchain-code:max_size=120,overlap=60": partial(
        _langchain, "python", chunk_size=120, chunk_overlap=60, length_function=nws
    ),
    "langchain-recursive:max_size=150,unit=chars": partial(_langchain, None, chunk_size=150),
    "langchain-recursive:max_size=150,unit=chars,overlap=70,strip=off": partial(
        _langchain, None, chunk_size=150, chunk_overlap=70, strip_whitespace=False
    ),
    "langchain-recursive:max_size=40,unit=tokens,overlap=10": partial(
        _langchain, None, chunk_size=40, chunk_overlap=10, length_function=_words
    ),
    "llamaindex-code:max_size=150,unit=chars": partial(_llamaindex_code, max_chars=150),
    "llamaindex-code:max_size=40,unit=tokens": partial(
        _llamaindex_code,
        count_mode="token",
        max_tokens=40,
        tokenizer=lambda text: [0] * _words(text),
    ),
    "llamaindex-semantic": _llamaindex_semantic,
    "semchunk:max_size=120": partial(_semchunk, size=120, count=nws),
    "semchunk:max_size=150,unit=chars,overlap=20": partial(
        _semchunk, size=150, count=len, overlap=20
    ),
    "text-splitter-code:max_size=150,unit=chars": partial(_text_splitter, "CodeSplitter", size=150),
    "text-splitter-text:max_size=150,unit=chars": partial(_text_splitter, "TextSplitter", size=150),
    "text-splitter-text:max_size=150,unit=chars,overlap=20": partial(
        _text_splitter, "TextSplitter", size=150, overlap=20
    ),
}
