"""The built site: nothing is broken, it looks like the pages on GitHub, and it needs no other host."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

import cmarkgfm
import pytest
from cmarkgfm.cmark import Options
from typing_extensions import override

from policies.registry import RULES
from policies.rule import Severity
from support.browser import CHROMIUM, WHY_NOT, Browser, chromium
from support.cluster import eventually
from tools.site.__main__ import TARGET, build, stage
from tools.site.tree import Page, Site

pytestmark = [pytest.mark.full, pytest.mark.xdist_group("site")]

PICTURES: Final = TARGET / "screenshots"
"""For people to look at; nothing compares them."""
BLOCKS: Final = {*("h1", "h2", "h3", "h4", "h5", "h6"), *("p", "ul", "ol", "li", "table", "tr", "pre", "blockquote")}
WALK: Final = (
    *("index", "start/platform-engineer", "start/data-scientist", "start/security-reviewer", "local", "eks"),
    *("examples/aks", "reference/existing", "configuration", "policies", "rules/ng-07", "rehearsal", "operations"),
    *("commands", "aws-inputs", "decisions/index", "imports", "source/policies/cel.py"),
)


@pytest.fixture(scope="session")
def public(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site; its build fails on a warning."""
    folder = tmp_path_factory.mktemp("site")
    stage(folder)
    assert build(folder) == 0
    return folder / "public"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


class Document(HTMLParser):
    """What the tests read of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.blocks: list[tuple[str, str]] = []
        self._is_content = "<article" not in text
        self.feed(text)

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.ids |= {given[name] for name in ("id", "name") if name in given}
        self.links += [given[name] for name in ("href", "src") if name in given]
        if tag in {"script", "img", "link", "iframe", "source"}:
            self.loaded += [given[name] for name in ("href", "src", "srcset") if name in given]
        self._is_content |= tag == "article"
        if self._is_content and tag in BLOCKS:
            self.blocks.append((tag, ""))

    @override
    def handle_endtag(self, tag: str) -> None:
        if tag == "article":
            self._is_content = False

    @override
    def handle_data(self, data: str) -> None:
        if self._is_content and self.blocks:
            tag, text = self.blocks[-1]
            self.blocks[-1] = (tag, text + re.sub(r"\W", "", data))

    @property
    def shape(self) -> list[tuple[str, str]]:
        """Its blocks with their words; an item of a list and its first paragraph are one, and empty paragraphs none."""
        found: list[tuple[str, str]] = []
        for tag, text in self.blocks:
            if tag == "p" and found and found[-1] == ("li", ""):
                found[-1] = ("li", text)
            elif text or tag != "p":
                found.append((tag, text))
        return found


def read(file: Path) -> Document:
    return Document(file.read_text(encoding="utf-8"))


def test_every_link_leads_to_a_file_and_a_place_in_it(public: Path) -> None:
    pages = {file: read(file) for file in public.rglob("*.html") if file.name != "404.html"}  # a server's own page
    assert len(pages) > 200
    broken = []
    for file, page in pages.items():
        for link in page.links:
            url = urlsplit(link)
            target = (file.parent / unquote(url.path)).resolve() if url.path else file
            if url.scheme or (target.exists() and (not url.fragment or target not in pages)):
                continue
            if not target.exists() or unquote(url.fragment) not in pages[target].ids:
                broken.append((file.relative_to(public).as_posix(), link))
    assert broken == []


def test_nothing_is_loaded_from_another_host(public: Path) -> None:
    loaded = {link for file in public.rglob("*.html") for link in read(file).loaded}
    styles = [url for file in public.rglob("*.css") for url in re.findall(r"url\(([^)]+)\)", file.read_text())]
    assert {link for link in (*loaded, *styles) if re.match(r"\W?(https?:)?//", link)} == set()


@pytest.mark.parametrize("page", list(Site().documents()), ids=lambda page: page.path)
def test_a_page_has_the_blocks_that_github_shows(public: Path, page: Page) -> None:
    shown = Document(cmarkgfm.github_flavored_markdown_to_html(page.text, Options.CMARK_OPT_UNSAFE))
    assert read(public / page.path.replace(".md", ".html")).shape == shown.shape


@pytest.mark.skipif(CHROMIUM is None, reason=WHY_NOT)
@pytest.mark.parametrize("name", WALK)
def test_a_page_fits_two_widths_complains_of_nothing_and_asks_no_other_host(
    browser: Browser, public: Path, name: str
) -> None:
    PICTURES.mkdir(parents=True, exist_ok=True)
    for width, dark in ((1280, False), (1280, True), (390, False), (390, True)):
        page = browser.page()
        page.open(public / f"{name}.html", width=width, dark=dark)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert page.evaluate("document.body.dataset.mdColorScheme") == ("slate" if dark else "default")
        picture = f"{name.replace('/', '-')}-{width}-{'dark' if dark else 'light'}.png"
        page.screenshot(PICTURES / picture, height=1800)
        assert page.complaints == []
        assert [url for url in page.requests if not url.startswith(("file://", "data:", "blob:"))] == []
        page.close()


FOCUSED: Final = "document.activeElement.shadowRoot?.activeElement?.tagName === 'INPUT'"
RESULTS: Final = "[...document.activeElement.shadowRoot.querySelectorAll('a[href]')].map(link => link.href)"


@pytest.mark.skipif(CHROMIUM is None, reason=WHY_NOT)
def test_search_finds_a_rule_without_a_server(browser: Browser, public: Path) -> None:
    page = browser.page()
    page.open(public / "index.html")
    page.evaluate("document.querySelector('.md-search__button').click()")
    eventually(lambda: page.evaluate(FOCUSED))
    page.call("Input.insertText", text="initial group fixed size")
    found = eventually(lambda: page.evaluate(RESULTS))
    assert urlsplit(found[0]).path == str(public / "rules" / "ng-07.html")
    assert page.complaints == []
    page.close()


@pytest.mark.skipif(CHROMIUM is None, reason=WHY_NOT)
def test_a_long_table_is_filtered_by_words_and_by_the_values_of_its_columns(browser: Browser, public: Path) -> None:
    page = browser.page()
    page.open(public / "policies.html")
    shown = "[...document.querySelector('article table').tBodies[0].rows].filter(row => row.offsetHeight).length"
    typed = "document.querySelector('.filter').dispatchEvent(new Event('input', { bubbles: true }))"
    count = "document.querySelector('.filter output').value"
    labels = (
        "[...document.querySelectorAll('.filter')[0].querySelectorAll('label')].map(label => label.firstChild.data)"
    )
    assert page.evaluate(labels) == ["Filter", "About", "Pack", "Severity", "dev", "prod"]
    assert page.evaluate(shown) == len(RULES)

    page.evaluate(f"document.querySelector('.filter input').value = 'INITIAL fixed'; {typed}")
    assert page.evaluate(shown) == 1
    assert page.evaluate(count) == f"1 of {len(RULES)} rows"

    critical = sum(rule.severity is Severity.CRITICAL for rule in RULES)
    page.evaluate("document.querySelector('.filter input').value = ''")
    page.evaluate(f"document.querySelectorAll('.filter select')[2].value = 'critical'; {typed}")
    assert page.evaluate(shown) == critical > 0
    page.close()
