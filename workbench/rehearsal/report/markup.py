"""HTML whose texts are escaped by construction: only ``element`` creates markup, all other text stays text."""

import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

from infra.config.problems import printable

TEXT_MAX: Final = 2_000
"""Maximum characters of a text; longer ones are cut."""


_SPACE: Final = re.compile(r"\s+")


class Html(str):
    """Markup that ``element`` created."""

    __slots__ = ()


def clean(value: str) -> str:
    """Return a text on one line, with control and invisible characters escaped."""
    return printable(_SPACE.sub(" ", value), TEXT_MAX)


def text(value: str) -> Html:
    """Return a text as markup that shows it; markup stays as it is."""
    return value if isinstance(value, Html) else Html(escape(clean(value)))


def element(tag: str, *children: str, **attributes: str | bool) -> Html:
    """Return an element.

    Parameters
    ----------
    tag
        Its name, then classes, as in ``p.dim.small``.
    children
        Markup, or text that is escaped.
    attributes
        Values are escaped; ``True`` writes an attribute without a value, ``False`` leaves it out, ``data_x`` is written
        as ``data-x``.
    """
    name, *classes = tag.split(".")
    given = {**({"class": " ".join(classes)} if classes else {}), **attributes}
    written = "".join(
        f" {key.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{escape(clean(str(value)))}"')
        for key, value in given.items()
        if value is not False
    )
    return Html(f"<{name}{written}>{joined(children)}</{name}>")


def joined(parts: Iterable[str]) -> Html:
    """Return parts one after the other."""
    return Html("".join(map(text, parts)))


def table(
    headings: Sequence[str],
    rows: Iterable[Iterable[str]],
    *,
    numbers: Iterable[int] = (),
    name: str,
    is_prose: bool = False,
) -> Html:
    """Return a table that scrolls within its own box when it is wider than the page.

    Parameters
    ----------
    headings, rows
        Cells: markup or text.
    numbers
        Positions of the columns that are numbers, shown to the right.
    name
        What screen readers call it.
    is_prose
        Whether cells are sentences: on narrow screens each row becomes a list of its cells.
    """
    right = set(numbers)
    head = (element("th.number" if at in right else "th", cell, scope="col") for at, cell in enumerate(headings))
    body = (
        element(
            "tr",
            *(
                element("td.number" if at in right else "td", cell, data_label=headings[at])
                for at, cell in enumerate(row)
            ),
        )
        for row in rows
    )
    whole = element("table", element("thead", element("tr", *head)), element("tbody", *body))
    return element(
        "div.scroll.prose" if is_prose else "div.scroll", whole, role="region", tabindex="0", aria_label=name
    )
