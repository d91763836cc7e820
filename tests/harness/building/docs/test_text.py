import pytest

from harness.building.docs.styles import Markup
from harness.building.docs.text import comment_text, description_of, summary_of


@pytest.mark.parametrize(
    ("comment", "text"),
    [
        ("/** One. */", " One."),
        ("/**\n * One.\n *\n *   Two\n **/", "\nOne.\n\n  Two"),
        ("/*! One\n   two */", " One\n   two"),
        ("/**\n\t * **bold** * x\n\t */", "\n**bold** * x"),
        ("/// One", " One"),
        ("//!< One", " One"),
        ("// One", " One"),
        ("# One", " One"),
        ("## One", " One"),
        ("=begin rdoc\nOne\n=end", "\nOne"),
        ('#[doc = "One"]', "One"),
        ('#![doc = r#" One "#]', " One "),
    ],
)
def test_marks_of_comments_are_taken_off(comment: str, text: str) -> None:
    assert comment_text(comment) == text


@pytest.mark.parametrize(
    ("markup", "comment", "text"),
    [
        ("javadoc", "/** Reads it.\n * Then more.\n * @param x it */", "Reads it."),
        ("javadoc", "/**\n * @param x it\n * @return that\n */", ""),
        ("javadoc", "/** @description Reads {@link Foo#bar(int) the bar} of it. */",
         "Reads the bar of it."),
        ("javadoc", "/** Uses {@link Foo#bar(int)}, {@code a<b>} and {@link Foo}. */",
         "Uses Foo.bar, a and Foo."),
        ("javadoc", "/** <b>Reads</b> a List<String> &amp; more<p>Other. */",
         "Reads a List<String> & more"),
        ("javadoc", "/**\n * Reads:\n * <pre>\n * code();\n * </pre>\n */", "Reads:"),
        ("javadoc", "/** Reads [it] by `code` of [x](http://y/z_(a)). */",
         "Reads it by code of x."),
        ("doxygen", "/// \\brief Reads \\c x of \\p y.\n/// \\param y it", "Reads x of y."),
        ("doxygen", "/**\n * @fn int f()\n * @param[in] y it\n *   and more\n *\n * Reads it.\n */",
         "Reads it."),
        ("doxygen", "/*! \\class C c.h\n * @ingroup g\n * Holds all. @see D */", "Holds all."),
        ("doxygen", "/// \\code\n/// x();\n/// \\endcode\n/// Reads it.", "Reads it."),
        ("xml", "/// <summary>\n/// Reads <see cref=\"T:A.B.C\"/> of <paramref name=\"x\"/>.\n"
         "/// </summary>\n/// <param name=\"x\">it</param>", "Reads C of x."),
        ("xml", "/// <returns>it</returns>", ""),
        ("xml", "/// Reads it. Then more.", "Reads it."),
        ("xml", "/// <summary>Reads <c>a &lt; b</c> of <see cref=\"M:A.B(System.Int32)\">that</see>"
         ".</summary>", "Reads a < b of that."),
        ("markdown", "/// Reads [`Foo`] of [the x](y).\n///\n/// # Examples\n/// ```\n/// f();",
         "Reads Foo of the x."),
        ("markdown", "/// # Heading\n///\n/// Reads **it**.", "Reads it."),
        ("markdown", "/// - Parameter x: it\n/// - Returns: that", ""),
        ("python", "Reads :class:`~a.b.C` of ``x`` and :func:`the g <g>`.\n\n:param x: it",
         "Reads a.b.C of x and the g."),
        ("python", "Args:\n    x: it", ""),
        ("python", ":param x: it", ""),
        ("ruby", "# Public: Reads +code+ of <tt>x</tt>.\n#\n# x - it", "Reads code of x."),
        ("ruby", "# :call-seq:\n#   f(x) -> y\n#\n# Reads {Foo#bar}.\n# @return [String] it",
         "Reads Foo#bar."),
        ("ruby", "# = Heading\n#\n# * reads it", "reads it"),
        ("go", "// f reads it, e.g. this. Then more.", "f reads it, e.g. this."),
    ],
)  # fmt: skip
def test_a_first_sentence_is_plain_words(markup: Markup, comment: str, text: str) -> None:
    assert description_of([comment], markup) == text


@pytest.mark.parametrize(
    ("markup", "comment", "text"),
    [
        ("javadoc", "/** Reads it.\n * More.\n * @param {Foo} x it\n * @return that\n */",
         "Reads it. More. x it that"),
        ("javadoc", "/**\n * Reads it.\n * @author me\n * @since 1.0\n * @throws E if not\n */",
         "Reads it. E if not"),
        ("doxygen", "/** @brief Reads it.\n * @sa y\n * @param[in] x it\n * @return that */",
         "Reads it. x it that"),
        ("xml", "/// <summary>Reads it.</summary>\n/// <param name=\"x\">the x</param>",
         "Reads it. the x"),
        ("markdown", "/// Reads it.\n///\n/// # Examples\n///\n/// ```rust\n/// f();\n/// ```",
         "Reads it. Examples f();"),
        ("python", "Reads it.\n\n:param x: the x", "Reads it. x the x"),
        ("ruby", "# Reads it.\n# @param x [String] the x", "Reads it. x String the x"),
        ("go", "// f reads it. More.", "f reads it. More."),
    ],
)  # fmt: skip
def test_all_of_a_comment_is_its_words_without_marks(
    markup: Markup, comment: str, text: str
) -> None:
    assert description_of([comment], markup, whole=True) == text


def test_lines_of_a_comment_are_one_text() -> None:
    assert description_of(["/// Reads", "/// it all."], "doxygen") == "Reads it all."
    assert description_of(["/// Reads\r", "/// it all.\r"], "markdown") == "Reads it all."


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize(
    ("markup", "opening", "part", "end"),
    [
        ("javadoc", "/** Opens it.", "\n", "x */"),
        ("javadoc", "/** Opens it. {@link ", "\n", "x. */"),
        ("javadoc", "/** Opens it. ", "<p \n", "*/"),
        ("javadoc", "/** Opens it. ", "{@a <pre ", "*/"),
        ("javadoc", "/** Opens it.\n", "*", "x */"),
        ("xml", "/// <summary>Opens it. ", '<see cref="a">\n', ""),
        ("xml", "/// <summary>Opens it. ", '<see cref="a\n', ""),
        ("python", "Opens it. ", ":a", ""),
        ("python", "Opens it. ", "_", "y"),
        ("python", "Opens it. `", "\n", "y"),
        ("python", "Opens it. :a:`b", "< \n", "y`"),
        ("python", "Opens it.\n:", "a", ""),
        ("markdown", "/// Opens it. ", "[a](", ""),
        ("markdown", "/// Opens it. [a](", "(a)", ""),
        ("ruby", "# Opens it. ", "{a}[", ""),
        ("go", "// Opens it. ", "a", ""),
    ],
)
def test_a_comment_of_any_shape_is_read_in_time_that_grows_with_its_length(
    markup: Markup, opening: str, part: str, end: str, whole: bool
) -> None:
    # Steps of the number of its square would take hours.
    comment = opening + part * (400_000 // len(part)) + end
    assert description_of([comment], markup, whole=whole).startswith("Opens it.")


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
