from chunkers import Services, Source, Span, load_chunker


def test_a_file_is_one_chunk_from_its_first_to_its_last_character():
    text = "\n  a = 1\n\n" * 1000
    assert load_chunker("whole-file").chunk(Source(text, "a"), Services()) == [Span(0, len(text))]


def test_it_is_embedded_by_windows():
    loaded = load_chunker("whole-file")
    assert (loaded.windows, loaded.max_size) == ("max", None)
