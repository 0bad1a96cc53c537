"""Whatever a report's text says, the comment does only what we wrote: held against the parser that GitHub uses."""

import re
from functools import cache

import cmarkgfm
import pytest
from cmarkgfm.cmark import Options
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from support import pages, reports
from workbench.report import html, markdown
from workbench.report.folding import Folding
from workbench.report.markup import code

SHA = "0ab0612fee67382192092b27873d1cff78627c28"
PIECES = [
    "@octocat", "@org/team", "&#64;octocat", "&commat;octocat", "\\@octocat", "a@b.example", "mailto:a@b.example",
    "#12", "GH-12", "gh-7", "org/repo#3", f"org/repo@{SHA}", SHA, SHA[:7], "x-0ab0612", "&#35;12",
    "https://evil.example", "www.evil.example", "http\\://evil.example", "<https://evil.example>", "ftp://e.example/x",
    "[click](https://evil.example)", "![i](https://evil.example/i)", "[click][1]", "\n\n[1]: https://evil.example\n\n",
    "[^1]", "\n[^1]: note", "<img src=x onerror=y>", "<script>x</script>", "</details>", "<details open>", "</code>",
    "<!--", "-->", "<!-- igz-clusters: report -->", "<a href=x>", "&lt;b&gt;", "<?x", "<![CDATA[", "]]>",
    "`", "``", "```", "\n```\n", "~~~", "\\", "\\`", "|", "\\|", "\n|a|\n|-|\n", "*", "**", "_", "~~", "***x***",
    "\n# h", "\n## h", "\n- x", "\n1. x", "1.", "-", "+", "\n> q", "\n    x", "\n---\n", "\n===", "> [!NOTE]",
    "- [ ] x",     ":tada:", "$x$", "$$", "$`x`$", "\u202e", "\u2066", "\u200b",
    "\u00ad", "\u0000", "\x1b[31m", "\ud800", "\u2028",
    "\r", "\t", "é", "中文", "'", '"', "(", ")", "!", "[", "]", "<", ">", "&", ".", ",", ";", ":", "=", " ", "  ", "x",
]  # fmt: skip
PLAIN = "word"
HOSTILE = st.one_of(
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=8).map("".join),
    st.text(alphabet=st.characters(), min_size=1, max_size=40),
    st.text(alphabet="`|\\ a'", min_size=1, max_size=20),
)
LINKED = re.compile(
    r"@\w|#\d|gh-\d|\b[0-9a-f]{7}|https?:|ftp:|mailto:|xmpp:|www\.|:\w+:|\$|[<>|\\`\[\]]", re.IGNORECASE
)
"""What GitHub makes something of in text; and what could only be there if it had been taken for Markdown."""
UNSEEN = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2069\u00ad\u0000-\u0009\u000b-\u001f\u007f\ufeff]")


def as_github(text: str) -> pages.Page:
    options = Options.CMARK_OPT_UNSAFE | Options.CMARK_OPT_FOOTNOTES
    return pages.read(cmarkgfm.github_flavored_markdown_to_html(text, options))


def as_page(text: str, *, with_html: bool) -> pages.Page:
    return pages.read(MarkdownIt("commonmark", {"html": with_html}).enable(["table", "strikethrough"]).render(text))


@cache
def parsed_plain(step: Folding) -> tuple[pages.Page, pages.Page, pages.Page]:
    """Return what the parsers make of the same report with plain words in it."""
    plain = markdown._page(reports.filled(PLAIN), step)
    return as_github(plain), as_page(plain, with_html=True), as_page(plain, with_html=False)


@pytest.mark.parametrize("step", list(Folding))
@settings(max_examples=80, deadline=None)
@given(text=HOSTILE)
@example(  # cut within the URL
    text=f"{SHA}{SHA}\n\n[1]: https://evil.example\n\n{SHA}\u2028{SHA}\n\n[1]: https://evil.example\n\n"
)
def test_a_comment_has_only_the_tags_and_links_that_we_wrote(step: Folding, text: str) -> None:
    written, (expected, *variants) = markdown._page(reports.filled(text), step), parsed_plain(step)
    page = as_github(written)
    assert page.tags == expected.tags
    assert page.comments == expected.comments
    assert [as_page(written, with_html=True).tags, as_page(written, with_html=False).tags] == [v.tags for v in variants]
    assert not LINKED.search(" ".join(page.text))
    assert not UNSEEN.search(written)


@settings(max_examples=60, deadline=None)
@given(text=HOSTILE)
def test_the_page_of_last_resort_has_only_the_tags_and_links_that_we_wrote(text: str) -> None:
    page, expected = (as_github(markdown.render(reports.filled(each), limit=10)) for each in (text, PLAIN))
    assert (page.tags, page.comments) == (expected.tags, expected.comments)
    assert not LINKED.search(" ".join(page.text))


@settings(max_examples=60, deadline=None)
@given(text=HOSTILE)
def test_a_page_has_only_the_tags_that_we_wrote(text: str) -> None:
    assert pages.read(html.render(reports.filled(text))).tags == pages.read(html.render(reports.filled(PLAIN))).tags


@given(text=st.text(alphabet="`|\\ a", min_size=1, max_size=30).filter(str.strip))
def test_code_says_exactly_what_it_was_given(text: str) -> None:
    page = as_github(f"x {code(text)} x")
    assert page.code == [text]


@pytest.mark.parametrize("piece", ["@octocat", "#12", "GH-12", SHA, "https://evil.example", "<img src=x>", "[a](b)"])
def test_the_parser_would_notice_what_is_not_hidden(piece: str) -> None:
    page = as_github(f"- text {piece}")
    assert LINKED.search(" ".join(page.text)) or page.tags != as_github("- text word").tags
