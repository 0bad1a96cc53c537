"""Reads hand-written YAML: its values, the position of each, and every problem in the text.

Values are those of YAML 1.2, as the engine reads them: ``yes`` and ``1:30`` are text. Numbers that the engine reads in
another way, such as ``010`` as 8, are problems.

The limits bound the cost of a hostile or broken file. A stack file has some 50 lines.
"""

import errno
import re
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Final

import yaml
from typing_extensions import override

from components.stack_files.problem import KeyPath, Problem, shown

_NO_VALUE = (yaml.YAMLError, ValueError, LookupError, AttributeError, ArithmeticError)
"""What PyYAML raises for a scalar that does not match its tag or form, such as a date in a 13th month."""

BYTES_MAX: Final = 2**20
VALUES_MAX: Final = 5_000
DEPTH_MAX: Final = 20

_HALF: Final = "contains an unpaired Unicode surrogate, which UTF-8 cannot encode"
_SURPRISING: Final = (
    "{} is a number in a notation that tools read differently; allowed: plain decimal numbers such as 10 or "
    "0.5, and text in quotes"
)
_MERGE: Final = "tag:yaml.org,2002:merge"
_YAML: Final = "tag:yaml.org,2002:"
_TAGS: Final[dict[type[yaml.Node], set[str]]] = {
    yaml.MappingNode: {f"{_YAML}map"},
    yaml.SequenceNode: {f"{_YAML}seq"},
    yaml.ScalarNode: {f"{_YAML}{kind}" for kind in ("bool", "float", "int", "null", "str", "timestamp")},
}
"""Tags that a stack file may use: YAML's plain types."""


@dataclass(frozen=True)
class Position:
    """A position in a file; line and column count from 1."""

    line: int
    column: int


@dataclass(frozen=True)
class Source:
    """A parsed file."""

    document: Any
    positions: dict[KeyPath, Position]
    """Start of each key and each list item."""
    problems: tuple[Problem, ...]
    """Problems in single values: duplicate keys (the first value is kept), unknown tags (the value is None)."""

    def position(self, path: KeyPath) -> Position:
        """Return the position of ``path``, or of its nearest ancestor in the file."""
        while path not in self.positions:
            path = path[:-1]
        return self.positions[path]


class SourceError(Exception):
    """The text is not a single valid YAML document."""

    def __init__(self, message: str, position: Position | None = None) -> None:
        super().__init__(message)
        line, column = (position.line, position.column) if position else (None, None)
        self.problem = Problem(None, message, line=line, column=column)


def read(file: Path) -> Source:
    """Parse ``file``.

    Raises
    ------
    SourceError
        The file is too large, not UTF-8, empty, invalid YAML, more than one document, or nested too deeply.
    OSError
        The file cannot be read.
    """
    if file.exists() and not file.is_file():
        raise OSError(errno.EINVAL, "not a regular file")
    with file.open("rb") as stream:
        content = stream.read(BYTES_MAX + 1)
    if len(content) > BYTES_MAX:
        raise SourceError(f"the file is larger than the limit of {BYTES_MAX // 1024} KiB")
    return parse(_text(content))


def leads_outside(file: Path, root: Path) -> bool:
    """Return whether a file is a link to one outside of a folder, such as a system's: errors would quote it."""
    return file.is_symlink() and file.exists() and not file.resolve().is_relative_to(root.resolve())


def parse(text: str) -> Source:
    """Parse ``text``; raises ``SourceError`` as ``read`` does."""
    parsed = _parsed(text)
    return replace(parsed, document=deepcopy(parsed.document))  # callers edit it


@lru_cache(maxsize=16)  # a long run reads the same few files again and again, and each takes 40 ms
def _parsed(text: str) -> Source:
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
    except yaml.reader.ReaderError as error:
        character = error.character if isinstance(error.character, int) else ord(error.character)
        message = f"the file contains the character U+{character:04X}, which YAML does not allow"
        raise SourceError(message, _position_of(text, error.position)) from None
    except yaml.MarkedYAMLError as error:
        raise _syntax(error, text) from None
    if node is None:
        raise SourceError("the file is empty")
    reading = _Reading(loader)
    document = reading.value(node, ())
    return Source(document, {(): _position(node.start_mark)} | reading.positions, tuple(reading.problems))


_NUMBER: Final = re.compile(r"[-+]?(0[xXbBoO][0-9a-fA-F]+|(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?)")
"""What the engine's parser reads as a number, after it dropped every ``_``:
https://github.com/go-yaml/yaml/blob/v3.0.1/resolve.go."""


class _Loader(yaml.SafeLoader):
    """Composes nodes and enforces the limits on count and depth."""

    # Without the booleans and numbers of YAML 1.1.
    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        first: [(tag, form) for tag, form in forms if tag.rpartition(":")[2] not in {"bool", "int", "float"}]
        for first, forms in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

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


for _kind, _form, _first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?(0|[1-9][0-9]*)", "-+0123456789"),
    (
        "float",
        r"[-+]?(0|[1-9][0-9]*)\.[0-9]*([eE][-+][0-9]+)?|\.[0-9]+([eE][-+][0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
        "-+.0123456789",
    ),
):
    _Loader.add_implicit_resolver(f"{_YAML}{_kind}", re.compile(f"(?:{_form})$"), list(_first))


class _Dumper(yaml.SafeDumper):
    """Writes every text in quotes."""


_Dumper.add_representer(str, lambda dumper, text: dumper.represent_scalar(f"{_YAML}str", text, style='"'))


def written(document: Any) -> str:
    """Return a document as YAML in which the engine reads text such as ``089`` as text."""
    return str(yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=False))


class _PlainDumper(yaml.SafeDumper):
    """Writes text without quotes if every reader takes it for text, else in double ones, which keep it in one line."""

    @override
    def choose_scalar_style(self) -> str:
        return super().choose_scalar_style() and '"'


_PlainDumper.add_representer(
    str, lambda dumper, text: dumper.represent_scalar(f"{_YAML}str", text, style='"' if _is_number(text) else None)
)


def plain(document: Any) -> str:
    """Return a document as YAML with quotes only where readers could take text for something else."""
    return str(yaml.dump(document, Dumper=_PlainDumper, width=float("inf"), sort_keys=False))


def inline(value: Any) -> str:
    """Return a value as YAML on one line, which ``parse`` reads as the same value."""
    text: str = yaml.dump([value], Dumper=_PlainDumper, default_flow_style=True, width=float("inf"), sort_keys=False)
    return text.strip()[1:-1]


class _Reading:
    """Builds the values of nodes and records their positions."""

    def __init__(self, loader: _Loader) -> None:
        self._loader = loader
        self._values = 0
        self.positions: dict[KeyPath, Position] = {}
        self.problems: list[Problem] = []

    def value(self, node: yaml.Node, path: KeyPath) -> Any:
        # An alias repeats its anchor's node, so this also bounds alias expansion and cycles.
        self._values += 1
        _within_limits(len(path), self._values, _position(node.start_mark))
        if node.tag not in _TAGS[type(node)]:
            return self._refuse(path, node, f"the tag {shown(node.tag)} is not supported; remove it")
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self._item(item, (*path, index)) for index, item in enumerate(node.value)]
        if problem := _scalar_problem(node):
            return self._refuse(path, node, problem)
        try:
            return self._loader.construct_object(node)
        except _NO_VALUE:
            kind = node.tag.rpartition(":")[2]
            return self._refuse(path, node, f"cannot be read as {kind}; if it is text, put it in quotes")

    def _item(self, node: yaml.Node, path: KeyPath) -> Any:
        self.positions[path] = _position(node.start_mark)
        return self.value(node, path)

    def _mapping(self, node: yaml.MappingNode, path: KeyPath) -> dict[str, Any]:
        mapping: dict[str, Any] = {}
        for key_node, value_node in self._entries(node, path):
            place = (*path, key_node.value)
            self.positions[place] = _position(key_node.start_mark)
            mapping[key_node.value] = self.value(value_node, place)
        return mapping

    def _entries(
        self, node: yaml.MappingNode, path: KeyPath, merges: int = 0
    ) -> Iterator[tuple[yaml.ScalarNode, yaml.Node]]:
        """Return the entries of a mapping, merged ones first so that its own keys win.

        Keys are always text, as in JSON: ``on`` is not a boolean and ``7`` is not a number.
        """
        own: dict[str, tuple[yaml.ScalarNode, yaml.Node]] = {}
        for key, value in node.value:
            if key.tag == _MERGE:
                for merged in self._merged(value, path):
                    self._values += 1
                    _within_limits(merges, self._values, _position(node.start_mark))
                    yield from self._entries(merged, path, merges + 1)
                continue
            if not isinstance(key, yaml.ScalarNode):
                self._refuse((*path, "?"), key, "a key must be text")
            elif not _is_encodable(key.value):
                self._refuse((*path, key.value), key, _HALF)
            elif key.value in own:
                first = _position(own[key.value][0].start_mark).line
                self._refuse((*path, key.value), key, f"is given twice, first in line {first}; keep one")
            else:
                own[key.value] = (key, value)
        yield from own.values()

    def _merged(self, node: yaml.Node, path: KeyPath) -> list[yaml.MappingNode]:
        """Return the mappings that ``<<`` names in reverse order, so that the first one wins."""
        nodes = node.value if isinstance(node, yaml.SequenceNode) else [node]
        mappings = [each for each in nodes if isinstance(each, yaml.MappingNode)]
        if len(mappings) < len(nodes):
            self._refuse((*path, "<<"), node, "merges mappings only; write an alias such as *name")
        return mappings[::-1]

    def _refuse(self, path: KeyPath, node: yaml.Node, message: str) -> None:
        position = _position(node.start_mark)
        self.problems.append(Problem(path, message, line=position.line, column=position.column))


def _scalar_problem(node: Any) -> str:
    """Return why a scalar is refused whatever its key is; empty if it is not."""
    if not _is_encodable(node.value):
        return _HALF
    is_plain_text = node.style is None and node.tag == f"{_YAML}str"
    return _SURPRISING.format(shown(node.value)) if is_plain_text and _is_number(node.value) else ""


def _is_number(text: str) -> bool:
    """Return whether the engine reads a text without quotes as a number."""
    return bool(_NUMBER.fullmatch(text.replace("_", "")))


def _is_encodable(text: str) -> bool:
    r"""Return whether UTF-8 can encode a text; escapes such as ``\ud800`` produce lone surrogates."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _within_limits(depth: int, values: int, position: Position) -> None:
    if depth > DEPTH_MAX:
        raise SourceError(f"the file is nested more than {DEPTH_MAX} levels deep", position)
    if values > VALUES_MAX:
        raise SourceError(f"the file contains more than {VALUES_MAX} values (each use of an alias counts)", position)


def _text(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode()
        message = f"the file is not UTF-8 text: it contains the byte 0x{content[error.start]:02x}"
        raise SourceError(message, _position_of(before, len(before))) from None


def _syntax(error: yaml.MarkedYAMLError, text: str) -> SourceError:
    """Return the parser's error in plain words, at the position that needs the fix."""
    mark = error.problem_mark or error.context_mark
    if mark and text[mark.index : mark.index + 1] == "\t":
        return SourceError("invalid YAML: a tab cannot indent, use spaces", _position(mark))
    for start, words in _UNFINISHED.items():
        if str(error.problem).startswith(start):
            return SourceError(f"invalid YAML: {words}", _position(error.context_mark or mark))
    advice = next((words for start, words in _ADVICE.items() if str(error.problem).startswith(start)), error.problem)
    return SourceError(f"invalid YAML: {advice}", _position(mark))


_ADVICE: Final = {
    "but found another document": "a second document begins here; keep one",
    "expected <block end>": "the indentation does not match the lines above",
    "mapping values are not allowed here": "a second ': ' in one line; quote the text or fix the indentation",
}
"""Plain wording for some parser messages, by prefix."""

_UNFINISHED: Final = {
    "could not find expected ':'": "a key without ': ' after it",
    "expected ',' or": "a bracket that begins here is not closed, or a comma is missing",
    "found unexpected end of stream": "a quote that begins here is not closed",
}
"""The same for errors that the parser reports late; the mistake starts at the context mark."""


def _position(mark: yaml.Mark | None) -> Position:
    return Position(mark.line + 1, mark.column + 1) if mark else Position(1, 1)


def _position_of(text: str, index: int) -> Position:
    before = text[:index]
    return Position(before.count("\n") + 1, len(before) - before.rfind("\n"))
