import pytest

from harness.building.summaries import names_overlap, summary_of


@pytest.mark.parametrize(
    ("docstring", "summary"),
    [
        ("Return x.", "Return x."),
        ("Return\n  the   x. Then more.", "Return the x."),
        ("\n  No full stop\n\n  Another paragraph.", "No full stop"),
        ("As e.g. this, i.e. that. More", "As e.g. this, i.e. that."),
        ("Read file.txt now! Or never", "Read file.txt now!"),
        ("Is it? (Yes.) No.", "Is it?"),
    ],
)
def test_the_summary_is_the_first_sentence(docstring: str, summary: str) -> None:
    assert summary_of(docstring) == summary


@pytest.mark.parametrize(
    ("name", "summary", "overlap"),
    [
        ("C.parse_args", "Parse the arguments.", True),
        ("parse_args", "Read what was given.", False),
        ("getHTTPResponse", "Read a response", True),
        ("getHTTPResponse", "Speak http", True),
        ("Parse.run", "Parse it", False),  # the class's name gives the function not away
        ("Parse::run", "Parse it", False),
        ("Parse::run", "Run it", True),
        ("a::Parse<b::C>::run", "Parse it in b", False),
        ("Parse:run", "Parse it", False),
        ("Parse#run", "Parse it", False),
        ("a\\Parse->run", "Parse it", False),
        ("Parse.run#2", "Parse it", False),
        ("Parse::run#2", "Run it", True),
        ("insertParts:atPlace:", "Insert them", True),
        ("Parse::~Parse", "Parse it", True),
        ("operator::parse", "Parse it", True),
        ("is_in", "Whether x is in y", False),
        ("token", "As get_token does", True),
        ("b64encode", "Encode to base64", True),
        ("__eq__", "Equality of both", False),
    ],
)
def test_words_of_the_name_in_the_summary(name: str, summary: str, overlap: bool) -> None:
    assert names_overlap(name, summary) is overlap
