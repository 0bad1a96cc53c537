"""The documents of the repository, and the commands in them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tools.tracked import tracked
from workbench.system.paths import PROJECT_ROOT

DOCUMENTS: Final = [
    file for file in tracked("*.md", and_new=True) if "/comments/" not in file and "/releases/" not in file
]

NOT_RUN: Final = re.compile(r"# not run: needs \S+")
_BLOCK: Final = re.compile(r"^( *)```(\w*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_SHELL: Final = ("", "sh")
_INLINE: Final = re.compile(r"(?<!`)`((?:\.venv/bin/)?igz-clusters [a-z][^`]*|make [a-z][^`]*)`(?!`)")
_OURS: Final = re.compile(r"""(?<![\w/.-])(?:\.venv/bin/)?igz-clusters((?: +(?:"[^"]*"|'[^']*'|[^\s|&;<>)"'`]+))*)""")


@dataclass(frozen=True)
class Line:
    """A command line of a document, continuation lines included.

    Parameters
    ----------
    file
        The document.
    text
        The line, without a comment.
    is_marked
        Whether it, or the first line of its block, says that it is not run, and what it needs.
    """

    file: str
    text: str
    is_marked: bool

    @property
    def ours(self) -> list[str]:
        """The arguments of each ``igz-clusters`` in it."""
        return [found.strip() for found in _OURS.findall(self.text)]


def lines() -> Iterator[Line]:
    """Yield the command lines of all documents; blocks without a language are commands, output has ``text``."""
    for file in DOCUMENTS:
        for _, language, block in _BLOCK.findall((PROJECT_ROOT / file).read_text(encoding="utf-8")):
            if language in _SHELL:
                yield from _lines(file, block)


def inline() -> Iterator[Line]:
    """Yield what the prose of all documents names as a command."""
    for file in DOCUMENTS:
        prose = _BLOCK.sub("", (PROJECT_ROOT / file).read_text(encoding="utf-8"))
        for found in _INLINE.findall(prose):
            yield Line(file, " ".join(found.replace("\\|", "|").split()), is_marked=False)


def _lines(file: str, block: str) -> Iterator[Line]:
    is_marked = bool(NOT_RUN.match(block.strip()))
    for line in re.sub(r"\\\n *", "", block).splitlines():
        text = re.sub(r"(^|\s)#.*", "", line.strip())
        if text:
            yield Line(file, text, is_marked or bool(NOT_RUN.search(line)))
