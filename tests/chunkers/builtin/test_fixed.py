from chunkers import Services, Source, load_chunker


def test_chunks_are_as_many_whole_lines_as_fit(cut):
    text = "aaaa\nbb\n\ncc\nddd\ne\n"
    assert cut("fixed:max_size=6", text) == ["aaaa\nbb\n", "cc\nddd\ne\n"]
    assert cut("fixed:max_size=8", text) == ["aaaa\nbb\n\ncc\n", "ddd\ne\n"]


def test_the_last_lines_are_repeated(cut):
    text = "".join(f"{number}\n" for number in range(7))
    assert cut("fixed:max_size=3,overlap=1", text) == [
        "0\n1\n2\n",
        "2\n3\n4\n",
        "4\n5\n6\n",
    ]


def test_a_blank_line_counts_as_a_repeated_one_and_none_begins_a_chunk(cut):
    text = "a\nb\n\nc\nd\n\ne\n"
    assert cut("fixed:max_size=3,overlap=2", text) == ["a\nb\n\nc\n", "c\nd\n\ne\n"]


def test_fewer_lines_are_repeated_where_the_next_would_not_fit(cut):
    text = "a\nbb\nccc\ndddd\n"
    assert cut("fixed:max_size=4,overlap=3", text) == ["a\nbb\n", "ccc\n", "dddd\n"]
    assert cut("fixed:max_size=5,overlap=4", text) == ["a\nbb\n", "bb\nccc\n", "dddd\n"]


def test_syntax_does_not_matter_and_no_language_is_noted():
    source = Source("def f(:\n" * 50, "a.py", None)
    services = Services()
    assert load_chunker("fixed:max_size=60").chunk(source, services)
    assert not services.notes
