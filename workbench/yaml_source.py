"""YAML that people wrote: its values, the place of each, and all that is wrong with it as text.

The limits keep a hostile or broken file from costing more than a message. A stack file has some 50 lines.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml
from typing_extensions import override

from infra.config import Path as KeyPath
from infra.config import Problem
from infra.config.problems import shown

BYTES_MAX: Final = 2**20
VALUES_MAX: Final = 5_000
DEPTH_MAX: Final = 20

_KEY_IS_TEXT: Final = "a key must be text; put it in quotes"
_MERGE: Final = "tag:yaml.org,2002:merge"
_PLAIN_TAGS: Final[dict[type[yaml.Node], str]] = {
    yaml.MappingNode: "tag:yaml.org,2002:map",
    yaml.SequenceNode: "tag:yaml.org,2002:seq",
}


@dataclass(frozen=True)
class Position:
    """A place in a file; both from 1."""

    line: int
    column: int


@dataclass(frozen=True)
class Source:
    """What a file says."""

    document: Any
    positions: dict[KeyPath, Position]
    """Where each key and each item of a list begins."""
    problems: tuple[Problem, ...]
    """What is wrong with parts of it: keys given twice, unknown tags. Their values are None or the last one given."""

    def position(self, path: KeyPath) -> Position:
        """Return where ``path`` is, or the nearest place above it that is there."""
        while path not in self.positions:
            path = path[:-1]
        return self.positions[path]


class SourceError(Exception):
    """A file whose text cannot be read as one YAML document."""

    def __init__(self, message: str, position: Position | None = None) -> None:
        super().__init__(message)
        line, column = (position.line, position.column) if position else (None, None)
        self.problem = Problem(None, message, line=line, column=column)


def read(file: Path) -> Source:
    """Return what ``file`` says.

    Raises
    ------
    SourceError
        If it is too large, no UTF-8, empty, no YAML, more than one document, or nested too deeply.
    OSError
        If it cannot be read.
    """
    with file.open("rb") as stream:
        content = stream.read(BYTES_MAX + 1)
    if len(content) > BYTES_MAX:
        raise SourceError(f"the file is larger than {BYTES_MAX // 1024} KiB, which no stack file needs")
    return parse(_text(content))


def parse(text: str) -> Source:
    """Return what ``text`` says; raise ``SourceError`` as ``read`` does."""
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
    except yaml.reader.ReaderError as error:
        character = error.character if isinstance(error.character, int) else ord(error.character)
        message = f"the file holds the character U+{character:04X}, which YAML does not allow"
        raise SourceError(message, _position_of(text, error.position)) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise SourceError(_syntax(error, text), _position(mark) if mark else None) from None
    if node is None:
        raise SourceError("the file is empty; Pulumi.local.yaml shows the layout")
    reading = _Reading(loader)
    document = reading.value(node, ())
    return Source(document, {(): _position(node.start_mark)} | reading.positions, tuple(reading.problems))


class _Loader(yaml.SafeLoader):
    """Composes nodes, and stops where there are too many or too deep ones."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.depth = 0
        self.values = 0

    @override
    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        self.depth += 1
        self.values += 1
        event = self.peek_event()  # type: ignore[no-untyped-call]
        _within_limits(self.depth, self.values, _position(event.start_mark))
        node: yaml.Node | None = super().compose_node(parent, index)
        self.depth -= 1
        return node


class _Reading:
    """Builds the values of nodes and notes where they are."""

    def __init__(self, loader: _Loader) -> None:
        self._loader = loader
        self._values = 0
        self.positions: dict[KeyPath, Position] = {}
        self.problems: list[Problem] = []

    def value(self, node: yaml.Node, path: KeyPath) -> Any:
        # An alias is its anchor's node again, so this also bounds what aliases multiply to, and ends endless ones.
        self._values += 1
        _within_limits(len(path), self._values, _position(node.start_mark))
        if node.tag != _PLAIN_TAGS.get(type(node), node.tag):
            return self._refuse(path, node, f"the tag {shown(node.tag)} means nothing here; drop it")
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self._item(item, (*path, index)) for index, item in enumerate(node.value)]
        try:
            return self._loader.construct_object(node)
        except (yaml.YAMLError, ValueError, LookupError):  # such as a date without a 13th month, or an unknown tag
            return self._refuse(path, node, f"is no value of the kind {shown(node.tag.rpartition(':')[2])}")

    def _item(self, node: yaml.Node, path: KeyPath) -> Any:
        self.positions[path] = _position(node.start_mark)
        return self.value(node, path)

    def _mapping(self, node: yaml.MappingNode, path: KeyPath) -> dict[Any, Any]:
        mapping: dict[Any, Any] = {}
        for key_node, value_node in self._entries(node, path):
            key = self.value(key_node, path) if isinstance(key_node, yaml.ScalarNode) else None
            if key is None:
                self._refuse((*path, "null" if isinstance(key_node, yaml.ScalarNode) else "?"), key_node, _KEY_IS_TEXT)
                continue
            place = (*path, key)
            self.positions[place] = _position(key_node.start_mark)
            mapping[key] = self.value(value_node, place)
        return mapping

    def _entries(self, node: yaml.MappingNode, path: KeyPath) -> Iterator[tuple[yaml.Node, yaml.Node]]:
        """Return the entries of a mapping, what it merges first, so that its own keys win."""
        own: dict[Any, tuple[yaml.Node, yaml.Node]] = {}
        for key, value in node.value:
            if key.tag == _MERGE:
                for merged in self._merged(value, path):
                    yield from self._entries(merged, path)
                continue
            name = key.value if isinstance(key, yaml.ScalarNode) else id(key)
            if name in own:
                first = _position(own[name][0].start_mark).line
                self._refuse((*path, name), key, f"is given twice, first in line {first}; keep one")
            own[name] = (key, value)
        yield from own.values()

    def _merged(self, node: yaml.Node, path: KeyPath) -> list[yaml.MappingNode]:
        """Return the mappings that ``<<`` names, the first and strongest last."""
        nodes = node.value if isinstance(node, yaml.SequenceNode) else [node]
        mappings = [each for each in nodes if isinstance(each, yaml.MappingNode)]
        if len(mappings) < len(nodes):
            self._refuse((*path, "<<"), node, "merges mappings only; write an alias such as *name")
        self._values += len(mappings)
        _within_limits(0, self._values, _position(node.start_mark))
        return mappings[::-1]

    def _refuse(self, path: KeyPath, node: yaml.Node, message: str) -> None:
        position = _position(node.start_mark)
        self.problems.append(Problem(path, message, line=position.line, column=position.column))


def _within_limits(depth: int, values: int, position: Position) -> None:
    if depth > DEPTH_MAX:
        raise SourceError(f"the file nests more than {DEPTH_MAX} levels deep", position)
    if values > VALUES_MAX:
        raise SourceError(f"the file holds more than {VALUES_MAX} values, each use of an alias counted", position)


def _text(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode()
        message = f"the file is not UTF-8 text, it holds the byte 0x{content[error.start]:02x}"
        raise SourceError(message, _position_of(before, len(before))) from None


def _syntax(error: yaml.MarkedYAMLError, text: str) -> str:
    mark = error.problem_mark
    if mark and text[mark.index : mark.index + 1] == "\t":
        return "no valid YAML: a tab cannot indent, use spaces"
    advice = next((words for start, words in _ADVICE.items() if str(error.problem).startswith(start)), error.problem)
    return f"no valid YAML: {advice}"


_ADVICE: Final = {
    "but found another document": "a second document begins here; keep one",
    "could not find expected ':'": "a key without ': ' after it",
    "expected <block end>": "the indentation does not fit the lines above",
    "expected ',' or": "a bracket is not closed, or a comma is missing",
    "found unexpected end of stream": "a quote is not closed",
    "mapping values are not allowed here": "a second ': ' in one line; quote the text, or mend the indentation",
}
"""Our words for some of the parser's messages, by how they begin."""


def _position(mark: yaml.Mark) -> Position:
    return Position(mark.line + 1, mark.column + 1)


def _position_of(text: str, index: int) -> Position:
    before = text[:index]
    return Position(before.count("\n") + 1, len(before) - before.rfind("\n"))
