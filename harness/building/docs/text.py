"""The description in a doc comment, without comment marks, tags and markup."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from chunkers.grammars.model import words

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from harness.building.docs.styles import Markup

_PARAGRAPH_END = re.compile(r"\n[ \t]*\n")
# A full stop before a lower-case letter belongs to an abbreviation or a file's name, unless an
# address or a call follows.
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?!(?!https?:|[\w.]{1,80}\()[a-z])")
# What ends in a full stop, but ends no sentence; `etc.` may end one before a capital.
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.? ?g|i\.? ?e|vs|cf|viz|resp|approx|incl|no|ver|sec|fig|al|a\.k\.a|w\.r\.t)|\.\.)"
    r"\.\s+|\betc\.\s+(?-i:(?![A-Z]))",
    re.IGNORECASE,
)

_BLOCK_OPEN = re.compile(
    r"/\*+!?<?|=(?:begin|pod|head\d|item|cut)[^\n]*|\{-+ ?[|^]?|\(\*+|--\[=*\[|#[=|]"
    r"|(?:@\w*doc\s*)?(?:~[sS])?(?:\"\"\"|'''|\")"
)
_ATTRIBUTE = re.compile(r"#!?\[\s*doc\s*=\s*r?#*\"(.*)\"#*\s*\]", re.DOTALL)
_STAR = re.compile(r"^[ \t]*\*+(?!\w*\*)[ \t]?", re.MULTILINE)
_LINE_OPEN = re.compile(
    r"^[ \t]*(?://[/!]?<?|#+'?|--+(?:[ ]?[|^])?|;+|%+|![<>!]?|[cC*](?=\s))", re.MULTILINE
)
_CLOSE = re.compile(
    r"(?:\*/|-\}|\*\)|\]={0,9}\]|=#|\|#|\n=(?:end|cut)\b[^\n]*|\"\"\"|'''|(?<!\\)\")\Z"
)

_PARAGRAPHS = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")
_FENCE = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_FENCE_MARK = re.compile(r"^[ \t]*(?:```|~~~)[^\n]*$", re.MULTILINE)
# Lines of nothing but marks, headings of markdown and of Ruby's documentation.
_RULE = re.compile(r"^[ \t]*[-=*_#~+.]{2,}[ \t]*$", re.MULTILINE)
_HEADING = re.compile(r"^[ \t]*(?:#{1,6}|={1,6})[ \t]+(.*)$", re.MULTILINE)
_BULLET = re.compile(r"\A\s*[-*+•][ \t]+")
_LINK = re.compile(r"!?\[([^\]\[]++)\]\((?:[^()\n]|\([^()\n]*+\))*+\)|\[([^\]\[]++)\]\[[^\]\[]*+\]")
_REFERENCE = re.compile(r"\[`([^`\]]+)`\]|(?<![\w\]])\[([\w.:#<>]+)\](?!\()")
_BOLD = re.compile(r"(?<![\w*])\*\*?(?=\S)([^*\n]+?)(?<=\S)\*\*?(?![\w*])")

_TAG = (
    r"(?:a|abbr|b|blockquote|br|center|cite|code|dd|dfn|div|dl|dt|em|font|h[1-6]|hr|i|img|kbd|li"
    r"|ol|p|pre|q|s|samp|small|span|strike|strong|sub|sup|table|tbody|td|tfoot|th|thead|tr|tt|u"
    r"|ul|var)"
)
_HTML_CODE = re.compile(r"<pre\b[^<>]*+>.*?(?:</pre>|\Z)", re.DOTALL | re.IGNORECASE)
_HTML_BREAK = re.compile(
    r"</?(?:p|ul|ol|dl|table|h[1-6]|hr|blockquote|div)\b[^<>]*+>", re.IGNORECASE
)
_HTML = re.compile(rf"</?{_TAG}\b[^<>]*+>", re.IGNORECASE)

_INLINE = re.compile(r"\{@(\w++)\s*+([^{}]*+)\}")
_BLOCK_TAG = re.compile(r"^[ \t]*@(!?\w+)[ \t]*", re.MULTILINE)
_TAG_TYPE = re.compile(r"^[ \t]*(?:\{[^}\n]*\}|\[[\w:<>, ]+\](?=\s|$))[ \t]*")
_SUMMARY_TAGS = words("abstract brief classdesc desc description summary")
# Sections that describe behaviour, unlike authors, versions and examples.
_DESCRIBING = _SUMMARY_TAGS | words(
    "arg argument attention deprecated details exception note option param pre post precondition"
    " postcondition prop property raise raises remark remarks result return returns retval throw"
    " throws tparam typeparam warning yield yieldparam yieldreturn yields"
)

_DOXYGEN_INLINE = re.compile(r"[\\@](?:c|p|a|e|b|em|ref|link|copybrief|copydetails)[ \t]+(\S+)")
_DOXYGEN_CODE = re.compile(
    r"[\\@](code|verbatim|dot|msc)\b.*?(?:[\\@]end\1|\Z)|[\\@]f\[.*?(?:[\\@]f\]|\Z)", re.DOTALL
)
_DOXYGEN_LINE = re.compile(
    r"^[ \t]*[\\@](?:addtogroup|anchor|class|copyright|def|defgroup|dir|enum|file|fn|headerfile"
    r"|hideinitializer|ingroup|interface|internal|mainpage|memberof|name|namespace|nosubgrouping"
    r"|overload|package|page|private|property|protected|public|pure|relates|relatesalso|section"
    r"|showinitializer|static|struct|subsection|typedef|union|var|weakgroup)\b[^\n]*$",
    re.MULTILINE,
)
_DOXYGEN_SUMMARY_TAG = re.compile(r"^[ \t]*[\\@](?:brief|short|details)\b[ \t]*", re.MULTILINE)
_DOXYGEN_SECTION = re.compile(r"^[ \t]*[\\@](\w+)(?:\[[\w, ]*\])?[ \t]*", re.MULTILINE)
_DOXYGEN_BRACES = re.compile(r"[\\@][{}]")

_SUMMARY = re.compile(r"<summary>(.*?)(?:</summary>|\Z)", re.DOTALL | re.IGNORECASE)
_XML_NAMED = re.compile(
    r"<(?:see|seealso|paramref|typeparamref)\s+(?:cref|name|langword|href)\s*=\s*"
    r"[\"'](?:\w:)?([^\"'<>]*+)[\"']\s*+(?:/>|>([^<]*+)(?:</\w++>)?)",
    re.IGNORECASE,
)
_XML_CODE = re.compile(r"<(code|example)\b[^<>]*+>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_XML_BREAK = re.compile(r"</?(?:para|list|item|remarks|returns|param)\b[^<>]*+>", re.IGNORECASE)
_XML = re.compile(r"</?[A-Za-z][\w.:-]*(?:\s[^<>]*)?/?>")

_ROLE = re.compile(r":(?:\w++:){1,4}`([^`]++)`")
_RST_LINK = re.compile(r"`([^`<]++)<[^<>`]++>`__?|`([^`]++)`__?")
_PYTHON_SECTION = re.compile(
    r"^[ \t]*(?:[:@](?:param|type|arg|args|argument|keyword|return|returns|rtype|raise|raises|yield"
    r"|yields|var|ivar|cvar)\b|>>> |(?:Args|Arguments|Attributes|Example|Examples|Keyword Args"
    r"|Parameters|Raises|Returns|Usage|Yields)[ \t]*:?[ \t]*$|\.\. )",
    re.MULTILINE,
)
_PYTHON_FIELD = re.compile(r"^[ \t]*+[:@]\w++[^:\n]*+:", re.MULTILINE)

_RUBY_CODE = re.compile(r"\+([\w:.#?!=]+)\+")
_RUBY_LINE = re.compile(r"^[ \t]*(?::[\w-]+:.*|--|\+\+)[ \t]*$", re.MULTILINE)
_RUBY_CALLS = re.compile(r"^[ \t]*(?::call-seq:|call-seq:).*?(?:\n[ \t]*\n|\Z)", re.M | re.S)
_TOMDOC = re.compile(r"\A\s*(?:Public|Internal|Private|Deprecated):\s+")
_RUBY_LINK = re.compile(r"\{([^{}]++)\}(?:\[[^\]\[]*+\])?")

_CALLOUT = re.compile(
    r"^[ \t]*[-*+][ \t]+(?:Parameters?|Returns?|Throws|Note|Warning|Important|SeeAlso|Complexity"
    r"|Precondition|Postcondition|Requires|Since|Todo|Attention|Author)\b[^:\n]*:",
    re.MULTILINE | re.IGNORECASE,
)


def description_of(comment: Sequence[str], markup: Markup, *, whole: bool = False) -> str:
    """The description in a doc comment, in plain words on one line.

    Args:
        comment: The comments in order, as written; or the value of a docstring.
        markup: Their markup.
        whole: Return everything but authors and versions, with code and sections such as `@param`,
            instead of the first sentence before them.
    """
    text = comment[0] if markup == "python" else "\n".join(map(comment_text, comment))
    text = text.replace("\r\n", "\n").replace("\r", "\n").expandtabs(4)
    if not whole:
        text = _FENCE.sub("\n\n", text)
    text = _FENCE_MARK.sub("\n\n", text)
    text = _READERS[markup](text, whole)
    text = _BULLET.sub("", _light(text, whole))
    return " ".join(text.split()) if whole else summary_of(text)


def summary_of(docstring: str) -> str:
    """The first sentence of the first paragraph, on one line."""
    paragraph = " ".join(_PARAGRAPH_END.split(docstring.strip(), maxsplit=1)[0].split())
    inside = {match.end() for match in _ABBREVIATION.finditer(paragraph)}
    ends = (match for match in _SENTENCE_END.finditer(paragraph) if match.end() not in inside)
    end = next(ends, None)
    return paragraph[: end.start()] if end else paragraph


def comment_text(comment: str) -> str:
    """A comment without its marks, at its ends and on every line."""
    if attribute := _ATTRIBUTE.fullmatch(comment):
        return attribute[1]
    opened = _BLOCK_OPEN.match(comment)
    if opened is None:
        return _LINE_OPEN.sub("", comment)
    inside = _unclosed(comment[opened.end() :].rstrip())
    first, end, rest = inside.partition("\n")
    return first + end + (_STAR.sub("", rest) if comment.startswith("/*") else rest)


def _unclosed(text: str) -> str:
    close = _CLOSE.search(text)
    return text[: close.start()].rstrip("*").rstrip() if close else text


def is_block(comment: str) -> bool:
    """Whether a comment has marks at both ends, not on each line."""
    return _BLOCK_OPEN.match(comment) is not None


def _light(text: str, whole: bool) -> str:
    """A text without the markup that all have: headings, links, inline code, bold."""
    text = _HEADING.sub(r"\n\n\1\n\n" if whole else "\n\n", _RULE.sub("", text))
    text = _LINK.sub(lambda link: link[1] or link[2], text)
    text = _REFERENCE.sub(lambda link: link[1] or link[2], text)
    return _BOLD.sub(r"\1", text).replace("`", "")


def _html(text: str, whole: bool) -> str:
    if not whole:
        text = _HTML_CODE.sub("\n\n", text)
    return html.unescape(_HTML.sub("", _HTML_BREAK.sub("\n\n", text)))


def _javadoc(text: str, whole: bool) -> str:
    """Javadoc, KDoc, Scaladoc, JSDoc, PHPDoc: HTML and markdown with tags."""
    text = _html(_INLINE.sub(_inline, text), whole)
    first = _BLOCK_TAG.search(text)
    if first is None:
        return text
    before, tags = text[: first.start()], []
    bounds = [*_BLOCK_TAG.finditer(text, first.start())]
    for tag, following in zip(bounds, [*bounds[1:], None], strict=True):
        section = text[tag.end() : following.start() if following else len(text)]
        section = _TAG_TYPE.sub("", section)
        if tag[1] in _SUMMARY_TAGS and not whole and not before.strip():
            return section
        if tag[1] in _DESCRIBING:
            tags.append(section)
    return "\n\n".join([before, *tags]) if whole else before


def _inline(tag: re.Match[str]) -> str:
    """The visible text of `{@link Type#member(int) label}`, `{@code …}` and the like."""
    name, content = tag[1].lower(), tag[2].strip()
    if not name.startswith("link") and name != "see":
        return content
    target, _, label = content.replace("|", " ", 1).partition("(")[0].partition(" ")
    label = content.partition(")")[2] or label if "(" in content else label
    return label.strip() or target.replace("#", ".").removeprefix(".")


def _doxygen(text: str, whole: bool) -> str:
    if not whole:
        text = _DOXYGEN_CODE.sub("\n\n", text)
    text = _DOXYGEN_BRACES.sub("", _DOXYGEN_INLINE.sub(r"\1", text))
    text = _DOXYGEN_SUMMARY_TAG.sub("\n\n", _DOXYGEN_LINE.sub("\n\n", text))
    kept = []
    for paragraph in _PARAGRAPHS.split(text):
        before, *sections = _DOXYGEN_SECTION.split(paragraph)
        pairs = zip(sections[::2], sections[1::2], strict=True)
        kept += [before, *(section for name, section in pairs if whole and name in _DESCRIBING)]
    return _html("\n\n".join(kept), whole)


def _xml(text: str, whole: bool) -> str:
    """The XML comments of C#."""
    if not whole:
        text = _XML_CODE.sub("\n\n", text)
        summary = _SUMMARY.search(text)
        if summary is None and _XML.search(text):
            return ""
        text = summary[1] if summary else text
    text = _XML_NAMED.sub(lambda ref: ref[2] or ref[1].partition("(")[0].rpartition(".")[2], text)
    return html.unescape(_XML.sub("", _XML_BREAK.sub("\n\n", text)))


def _python(text: str, whole: bool) -> str:
    """Docstrings: reStructuredText, Google's and NumPy's sections."""
    text = _ROLE.sub(lambda role: _title(role[1]).lstrip("~!."), text)
    text = _RST_LINK.sub(lambda link: link[2] or (link[1].rstrip() or link[1]), text)
    if whole:
        return _PYTHON_FIELD.sub(lambda field: field[0].split(maxsplit=1)[-1].rstrip(":"), text)
    section = _PYTHON_SECTION.search(text)
    return text[: section.start()] if section else text


def _title(link: str) -> str:
    """The title in `title <target>`; the whole text if there is no target."""
    before, _, target = link.removesuffix(">").rpartition("<")
    whole = not link.endswith(">") or not before.strip() or not target or ">" in target
    return link if whole else before.rstrip()


def _ruby(text: str, whole: bool) -> str:
    """RDoc, YARD and TomDoc."""
    text = _RUBY_LINE.sub("", _RUBY_CALLS.sub("\n\n", text))
    text = _RUBY_CODE.sub(r"\1", _RUBY_LINK.sub(r"\1", _TOMDOC.sub("", text)))
    return _javadoc(text, whole)


def _markdown(text: str, whole: bool) -> str:
    """Markdown, with the callouts of Swift."""
    if whole:
        return _html(text, whole)
    section = _CALLOUT.search(text)
    return _html(text[: section.start()] if section else text, whole)


def _plain(text: str, whole: bool) -> str:
    del whole
    return text


_READERS: Mapping[Markup, Callable[[str, bool], str]] = {
    "doxygen": _doxygen,
    "go": _plain,
    "javadoc": _javadoc,
    "markdown": _markdown,
    "plain": _plain,
    "python": _python,
    "ruby": _ruby,
    "xml": _xml,
}
