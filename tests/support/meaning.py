"""Parts of other people for runs that cut by vectors."""

from worlds import small

from chunkers.source import Span


class ByVectors:
    """Halves of files, by the vector of the first line; tells no texts beforehand."""

    embeds = True
    version = "1"

    def chunk(self, source, services):
        if source.path.startswith("one/copy"):
            raise RuntimeError("cannot parse this")
        text = source.text
        if not text.strip():
            return []
        (vector,) = services.embed([text.split("\n")[0]])
        assert abs(float(vector @ vector) - 1) < 1e-6
        middle = source.lines.start_of(source.lines.count // 2 + 1)
        return [Span(0, middle), Span(middle, len(text))]


class FailingTexts(ByVectors):
    """Its own fault: it cannot say what it asks for."""

    def texts(self, source, services):
        if source.path == "one/alpha.py":
            raise RuntimeError("no texts")
        return [source.text.split("\n")[0]] if source.text.strip() else []


def tiny(data_dir):
    """The small data set, as `-d meaning:tiny` names it."""
    del data_dir
    return small()
