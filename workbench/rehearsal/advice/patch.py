"""Edits of YAML text at the lines of their keys, and patches that ``git apply`` accepts.

Everything that an edit does not name is unchanged: comments, order, quotes, line ends. PyYAML finds where values begin
and end. ``yaml_source`` reads the result back, which must equal the wanted document.
"""

import difflib
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import yaml

from components.stack_files import yaml_source
from components.stack_files.yaml_source import SourceError
from infra.config import KeyPath
from workbench.rehearsal.advice.edits import Edit, applied, inline

_CONTEXT: Final = 3
_NO_NEWLINE: Final = "\\ No newline at end of file\n"


class PatchError(Exception):
    """The edits cannot be made in the text, such as inside an alias; the message says which and what to do."""


def edited(text: str, edits: Iterable[Edit], below: KeyPath = ()) -> str:
    """Return a YAML text with the edits made, and all else unchanged.

    Parameters
    ----------
    text
        The file's text with its own line ends.
    edits
        Keys and their new values.
    below
        Path of the mapping that the edits' paths start from. Default: the root.

    Raises
    ------
    PatchError
        The text cannot express an edit, for example because the value is an alias of another.
    """
    for edit in edits:
        wanted = applied(yaml_source.parse(text).document, [edit], below)
        try:
            changed = _Text(text).with_value((*below, *edit.path), edit.value)
            is_right = yaml_source.parse(changed).document == wanted
        except (LookupError, SourceError):
            is_right = False
        if not is_right:
            message = "cannot be written into the file without changing other keys; change it by hand"
            raise PatchError(f"{edit.text}: {message}")
        text = changed
    return text


def patch_of(file: Path, before: str, after: str) -> str:
    """Return the unified diff between two texts of a file; empty if they are equal.

    Paths are relative to the Git repository that has the file, or to its folder. ``git apply`` expects this.
    """
    if before == after:
        return ""
    name = file.resolve().relative_to(_root(file.resolve())).as_posix()
    tail = "\t\n" if re.search(r"\s", name) else "\n"
    lines = list(difflib.unified_diff(_lines(before), _lines(after), n=_CONTEXT))[2:]
    body = [line if line.endswith("\n") else f"{line}\n{_NO_NEWLINE}" for line in lines]
    return "".join([f"diff --git a/{name} b/{name}\n--- a/{name}{tail}", f"+++ b/{name}{tail}", *body])


def read_text(file: Path) -> str:
    """Return a file's text with its own line ends."""
    with file.open(encoding="utf-8", newline="") as stream:
        return stream.read()


def _root(file: Path) -> Path:
    return next((parent for parent in file.parents if (parent / ".git").exists()), file.parent)


def _lines(text: str) -> list[str]:
    """Return the lines with their ends; only a line feed ends one, as for Git."""
    return [line for line in re.split(r"(?<=\n)", text) if line]


class _Text:
    """A YAML text, and its nodes with their positions in it."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._end = "\r\n" if "\r\n" in text else "\n"
        self._root: Any = yaml.compose(text, Loader=yaml.SafeLoader)

    def with_value(self, path: KeyPath, value: Any) -> str:
        """Return the text with a value at a path, ``None`` for none."""
        parent, rest = self._root, list(path)
        while len(rest) > 1 and (child := _entry(parent, rest[0])):
            parent, rest = child[1], rest[1:]
        entry = _entry(parent, rest[0])
        for key in reversed(rest[1:]):
            value = {key: value}
        if value is None or (len(rest) > 1 and _innermost(value) is None):
            return self._without(parent, entry) if entry and len(rest) == 1 else self._text
        if entry is None:
            return self._with_entry(parent, str(rest[0]), value)
        return self._with_node(entry[1], value)

    def _with_node(self, node: Any, value: Any) -> str:
        """Replace a value; a list that only grows keeps the items that it has."""
        if isinstance(node, yaml.SequenceNode) and isinstance(value, list) and node.value:
            old = [item.value for item in node.value]
            if value[: len(old)] == old and len(value) > len(old):
                return self._with_items(node, value[len(old) :])
        before, end = self._text[: node.start_mark.index], self._end_of(node)
        if isinstance(node, yaml.SequenceNode) and not node.flow_style and before.rstrip().endswith(":"):
            before = f"{before.rstrip()} "  # a block may begin in its key's column, a list in brackets may not
        return before + inline(value) + self._text[end:]

    def _with_items(self, node: Any, items: list[Any]) -> str:
        last = node.value[-1]
        if node.flow_style:
            at = last.end_mark.index
            return self._text[:at] + "".join(f", {inline(item)}" for item in items) + self._text[at:]
        column = self._text.rfind("-", 0, last.start_mark.index) - self._line_start(last.start_mark.index)
        return self._with_lines(self._last_line(last), [f"{' ' * column}- {inline(item)}" for item in items])

    def _with_entry(self, parent: Any, key: str, value: Any) -> str:
        """Add a key at the end of a mapping; in a block, a value that is not a mapping goes after the first scalar."""
        entries = parent.value
        if parent.flow_style:
            at = entries[-1][1].end_mark.index if entries else parent.start_mark.index + 1
            lead = ", " if entries else " "
            return self._text[:at] + f"{lead}{inline(key)}: {inline(value)}" + self._text[at:]
        column = entries[0][0].start_mark.column
        is_block = isinstance(value, dict)
        step = self._step(entries)
        lines = [f"{' ' * column}{inline(key)}: {inline(value)}"]
        if is_block:
            inner = [f"{' ' * (column + step)}{inline(k)}: {inline(v)}" for k, v in value.items()]
            lines = [f"{' ' * column}{inline(key)}:", *inner]
        plain = next((entry for entry in entries if isinstance(entry[1], yaml.ScalarNode)), None)
        after = plain if plain is not None and not is_block else entries[-1]
        return self._with_lines(self._last_line(_written(after)), lines)

    def _without(self, parent: Any, entry: Any) -> str:
        """Remove a key and its value."""
        key, node = entry
        start, end = key.start_mark.index, self._end_of(node)
        if not parent.flow_style:
            first, last = key.start_mark.line, self._last_line(node)
            lines = _lines(self._text)
            return "".join([*lines[:first], *lines[last + 1 :]])
        left, right = self._text[:start], self._text[end:]
        if re.match(r"\s*,\s*", right):
            return left + re.sub(r"^\s*,\s*", "", right, count=1)
        return re.sub(r"\s*,\s*$", "", left, count=1) + right

    def _with_lines(self, after: int, lines: list[str]) -> str:
        """Insert lines after the line ``after``; a file without a final line end still has none."""
        old = _lines(self._text)
        head, tail = old[: after + 1], old[after + 1 :]
        has_end = head[-1].endswith("\n")
        new = self._end.join(lines)
        return "".join([*head, new + self._end if has_end else self._end + new, *tail])

    def _last_line(self, node: Any) -> int:
        """Return the line on which a value ends; for a block, that of its last value, before comments that follow."""
        if isinstance(node, yaml.ScalarNode) or node.flow_style or not node.value:
            end = self._end_of(node)
            return self._text.count("\n", 0, max(end, node.start_mark.index))
        last = node.value[-1]
        return self._last_line(_written(last))

    def _end_of(self, node: Any) -> int:
        """Return where a value ends, without line ends and comments after a block."""
        if isinstance(node, yaml.ScalarNode) and node.style in ("|", ">"):
            return len(self._text[: node.end_mark.index].rstrip())
        if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
            last = node.value[-1]
            return self._end_of(_written(last))
        return int(node.end_mark.index)

    def _line_start(self, index: int) -> int:
        return self._text.rfind("\n", 0, index) + 1

    def _step(self, entries: Any) -> int:
        """Return the number of columns by which these entries indent a block."""
        for key, node in entries:
            if isinstance(node, yaml.MappingNode) and node.value and not node.flow_style:
                return int(node.value[0][0].start_mark.column - key.start_mark.column)
        return 2


def _entry(node: Any, key: Any) -> tuple[Any, Any] | None:
    """Return the key and value of a mapping's own entry, or of a list's item."""
    if isinstance(node, yaml.SequenceNode) and isinstance(key, int):
        return (node.value[key], node.value[key]) if key < len(node.value) else None
    if not isinstance(node, yaml.MappingNode):
        raise LookupError(key)  # noqa: TRY004 it is the text that lacks the key
    return next(((k, v) for k, v in node.value if k.value == str(key)), None)


def _written(entry: Any) -> Any:
    """Return what comes last in the text of an entry or item: its value, or its key if the value is an alias.

    The node of an alias is that of its anchor, which comes before.
    """
    if not isinstance(entry, tuple):
        return entry
    key, node = entry
    return node if node.start_mark.index >= key.start_mark.index else key


def _innermost(value: Any) -> Any:
    while isinstance(value, dict) and value:
        value = next(iter(value.values()))
    return value
