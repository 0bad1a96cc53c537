"""Writes Markdown so that the site's generator shows it as GitHub does.

GitHub follows CommonMark. The generator follows Python-Markdown, where a list or a code block needs an empty line
before it, and the content of a list item four spaces. Both read what is written here alike. A code block without a
language holds commands.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

Link = Callable[[str], str]
"""Returns the target of a link on the site, from its target in the repository."""

_PARSER: Final = MarkdownIt("commonmark").enable("table")
_CODE: Final = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)
_TARGET: Final = re.compile(r"(?<=\]\()([^)\s]+)")
_FENCE: Final = re.compile(r"`{3,}")
_HEADING: Final = re.compile(r"^(#{1,6}) +(.*?)$", re.MULTILINE)
_ANCHOR: Final = re.compile(r'<a id="([^"]+)">')
_INDENT: Final = "    "


def portable(text: str, link: Link) -> str:
    """Return Markdown with the same blocks for both renderers, and each link as ``link`` says."""
    root = SyntaxTreeNode(_PARSER.parse(text))
    return "\n\n".join("\n".join(block) for block in _blocks(root, text.splitlines(), link)) + "\n"


def fenced(text: str, language: str) -> str:
    """Return a code block whose fence is longer than any in ``text``."""
    fence = "`" * max([3, *(len(each) + 1 for each in _FENCE.findall(text))])
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def slug(heading: str) -> str:
    """Return the anchor of a heading, as GitHub makes it."""
    shown = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", shown.replace("`", "").strip().lower()).replace(" ", "-")


def anchors(text: str) -> set[str]:
    """Return the anchors of a page: those of its headings, numbered if one repeats, and explicit ones."""
    prose = re.sub(r"^ *(`{3,}).*?^ *\1$", "", text, flags=re.DOTALL | re.MULTILINE)
    found = set(_ANCHOR.findall(prose))
    seen: dict[str, int] = {}
    for _, heading in _HEADING.findall(prose):
        name = slug(heading)
        found.add(f"{name}-{seen[name]}" if name in seen else name)
        seen[name] = seen.get(name, 0) + 1
    return found


def _blocks(parent: SyntaxTreeNode, lines: Sequence[str], link: Link) -> Iterator[list[str]]:
    for node in parent.children:
        match node.type:
            case "heading":
                yield [f"{'#' * int(node.tag[1])} {_linked(node.children[0].content, link)}"]
            case "paragraph":
                yield _linked(node.children[0].content, link).splitlines()
            case "fence":
                yield fenced(node.content, node.info or "sh").splitlines()
            case "code_block":
                yield fenced(node.content, "text").splitlines()
            case "table":
                first, end = node.map or (0, 0)
                yield [_row(line.strip(), link) for line in lines[first:end]]
            case "bullet_list" | "ordered_list":
                yield list(_list(node, lines, link))
            case "blockquote":
                yield [f"> {line}".rstrip() for line in _joined(node, lines, link)]
            case "hr":
                yield ["---"]
            case _:
                yield node.content.splitlines()


def _joined(parent: SyntaxTreeNode, lines: Sequence[str], link: Link) -> Iterator[str]:
    for index, block in enumerate(_blocks(parent, lines, link)):
        yield from ([""] if index else [])
        yield from block


def _list(node: SyntaxTreeNode, lines: Sequence[str], link: Link) -> Iterator[str]:
    number = int(node.attrs.get("start", 1))
    is_plain = not any(_is_loose(item) for item in node.children)
    for index, item in enumerate(node.children):
        yield from ([""] if index and not is_plain else [])
        marker = f"{number + index}." if node.type == "ordered_list" else "-"
        for at, line in enumerate(_joined(item, lines, link)):
            if at == 0:
                yield f"{marker.ljust(3)} {line}"
            elif not (is_plain and not line):
                yield f"{_INDENT}{line}".rstrip()


def _is_loose(item: SyntaxTreeNode) -> bool:
    """Return whether the blocks of an item need empty lines: all but one paragraph and a list below it."""
    kinds = [child.type for child in item.children]
    paragraphs = [child for child in item.children if child.type == "paragraph"]
    return not all(child.hidden for child in paragraphs) or kinds not in (
        ["paragraph"],
        ["paragraph", "bullet_list"],
        ["paragraph", "ordered_list"],
    )


def _row(line: str, link: Link) -> str:
    """Return a row of a table; in code, Python-Markdown would show the backslash before a bar."""
    return _CODE.sub(lambda code: code.group().replace("\\|", "|"), _linked(line, link))


def _linked(content: str, link: Link) -> str:
    """Return inline content with the targets of its links changed, except in code."""
    parts, end = [], 0
    for code in _CODE.finditer(content):
        parts += [_TARGET.sub(lambda found: link(found.group()), content[end : code.start()]), code.group()]
        end = code.end()
    return "".join([*parts, _TARGET.sub(lambda found: link(found.group()), content[end:])])
