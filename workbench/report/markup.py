"""Markdown that shows a report's untrusted texts without interpreting them.

Names, values and messages come from a change that has not been reviewed. GitHub recognises mentions, references and
URLs in the rendered page, so neither a backslash nor an entity hides them, but it ignores code. So everything that is
not plainly a word is shown as code, which also suits labels, types and paths.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from infra.config.problems import printable

NAME_MAX: Final = 200
"""Maximum characters of a name, type or property path; our longest have some 120."""

VALUE_MAX: Final = 120
PROSE_MAX: Final = 600

_EMPTY: Final = "(empty)"

_TOKEN: Final = re.compile(r"""(['"(]*)(?:`([^`]+)`|(\S*?))(['").,;:!?]*)(?=\s|$)""")
"""A token between spaces without surrounding punctuation, or a whole code span between backticks."""

_PLAIN: Final = re.compile(
    r"(?!.*gh-\d)(?!.*\b[0-9a-f]{7})"  # GitHub links issue numbers and possible commit ids
    r"(?:[^\W\d_]+(?:['-][^\W_]+)*|[0-9]+(?:[.,-][0-9]+)*%?)?",
    re.IGNORECASE,
)

_SCHEME: Final = re.compile("https?|ftp|mailto|xmpp", re.IGNORECASE)
"""URL schemes that GitHub turns into links."""


def code(text: str, limit: int = NAME_MAX) -> str:
    """Return a text as code: escapes unprintable characters and cuts it at ``limit``."""
    shown = printable(text, limit)
    if not shown.strip():
        return _EMPTY
    runs = {len(run) for run in re.findall("`+", shown)}
    fence = "`" * next(length for length in range(1, len(runs) + 2) if length not in runs)
    edge = " " if shown[0] in "` " or shown[-1] in "` " else ""
    return f"{fence}{edge}{shown}{edge}{fence}"


def prose(text: str, limit: int = PROSE_MAX) -> str:
    """Return a text on one line, with everything but plain words as code."""
    shown = printable(" ".join(text.split()), limit)
    return " ".join(filter(None, map(_token, _TOKEN.finditer(shown)))) or _EMPTY


def cell(text: str) -> str:
    """Return Markdown as a table cell, where a bar must be escaped even in code."""
    return text.replace("|", r"\x7c")


def names(texts: Iterable[str], limit: int = NAME_MAX) -> str:
    """Return names as one line."""
    return ", ".join(code(text, limit) for text in texts)


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; cells are Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(map(cell, line))} |" for line in lines)


def folded(summary: str, body: str, *, is_open: bool = False) -> str:
    """Return a collapsible section; ``summary`` must be trusted text, since it is not escaped."""
    return f"<details{' open' if is_open else ''}>\n<summary>{summary}</summary>\n\n{body}\n\n</details>"


def _token(found: re.Match[str]) -> str:
    before, quoted, inner, after = found.groups()
    word = inner if quoted is None else quoted
    may_begin_a_list = found.start() == 0 and word.isdigit() and after.startswith((".", ")"))
    may_begin_a_url = after.startswith(":") and _SCHEME.fullmatch(word)
    is_plain = quoted is None and not may_begin_a_list and not may_begin_a_url and _PLAIN.fullmatch(word)
    return f"{before}{word if is_plain else code(word, limit=len(word))}{after}"
