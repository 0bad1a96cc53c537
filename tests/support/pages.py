"""What a page of HTML holds, for tests that search for what must not be there."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

from typing_extensions import override


@dataclass
class Page:
    """A page, read."""

    tags: list[str] = field(default_factory=list)
    """Every tag as it opens, with its attributes; not those of code."""
    comments: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    """Text that GitHub searches for mentions and references: what is not code."""
    code: list[str] = field(default_factory=list)
    """What each piece of code says."""


def read(html: str) -> Page:
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return reader.page


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.page = Page()
        self._depth = 0

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "code":
            self._depth += 1
            self.page.code.append("")
        else:
            self.page.tags.append(" ".join([tag, *(f"{name}={value}" for name, value in attrs)]))

    @override
    def handle_endtag(self, tag: str) -> None:
        if tag == "code":
            self._depth -= 1
        else:
            self.page.tags.append(f"/{tag}")

    @override
    def handle_data(self, data: str) -> None:
        if self._depth:
            self.page.code[-1] += data
        else:
            self.page.text.append(data)

    @override
    def handle_comment(self, data: str) -> None:
        self.page.comments.append(data)
