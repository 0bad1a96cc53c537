"""Markdown that says what a report says, and never does what a report's text may ask for.

Names, values and messages come from a change that nobody has reviewed yet. GitHub looks for mentions, references and
addresses in the finished page, so neither a backslash nor an entity hides them; inside code it looks for nothing. So
a word that is not plainly a word is shown as code. The same words then read well: they are labels, types and paths.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from infra.config.problems import printable

NAME_MAX: Final = 200
"""Characters of a name, a type or a property's path; the longest of our own have some 120."""

VALUE_MAX: Final = 120
PROSE_MAX: Final = 600

_EMPTY: Final = "(empty)"

_TOKEN: Final = re.compile(r"""(['"(]*)(?:`([^`]+)`|(\S*?))(['").,;:!?]*)(?=\s|$)""")
"""What stands between two spaces, without the punctuation around it; between two backticks, spaces and all."""

_PLAIN: Final = re.compile(
    r"(?!.*gh-\d)(?!.*\b[0-9a-f]{7})"  # GitHub makes links of an issue's number and of what may be a commit
    r"(?:[^\W\d_]+(?:['-][^\W_]+)*|[0-9]+(?:[.,-][0-9]+)*%?)?",
    re.IGNORECASE,
)


def code(text: str, limit: int = NAME_MAX) -> str:
    """Return a text as code, as it is: what cannot be seen is spelled out, and what is over ``limit`` is cut."""
    shown = printable(text, limit)
    if not shown.strip():
        return _EMPTY
    runs = {len(run) for run in re.findall("`+", shown)}
    fence = "`" * next(length for length in range(1, len(runs) + 2) if length not in runs)
    edge = " " if shown[0] in "` " or shown[-1] in "` " else ""
    return f"{fence}{edge}{shown}{edge}{fence}"


def prose(text: str, limit: int = PROSE_MAX) -> str:
    """Return a text as a part of one line, its words as they are and all else as code."""
    shown = printable(" ".join(text.split()), limit)
    return " ".join(filter(None, map(_token, _TOKEN.finditer(shown)))) or _EMPTY


def cell(text: str) -> str:
    """Return ready Markdown as a cell of a table, which must hold no bar, not even in code."""
    return text.replace("|", r"\x7c")


def names(texts: Iterable[str], limit: int = NAME_MAX) -> str:
    """Return names as one line."""
    return ", ".join(code(text, limit) for text in texts)


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; cells are ready Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(map(cell, line))} |" for line in lines)


def folded(summary: str, body: str, *, is_open: bool = False) -> str:
    """Return a part that opens on a click; ``summary`` is our own text, since no code can be told from text there."""
    return f"<details{' open' if is_open else ''}>\n<summary>{summary}</summary>\n\n{body}\n\n</details>"


def _token(found: re.Match[str]) -> str:
    before, quoted, inner, after = found.groups()
    word = inner if quoted is None else quoted
    may_begin_a_list = found.start() == 0 and word.isdigit() and after.startswith((".", ")"))
    is_plain = quoted is None and not may_begin_a_list and _PLAIN.fullmatch(word)
    return f"{before}{word if is_plain else code(word, limit=len(word))}{after}"
