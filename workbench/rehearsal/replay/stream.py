"""Reads JSON entries one by one, so that files of any size need little memory.

Files may be compressed with gzip.
"""

import codecs
import gzip
import io
import json
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeVar

from workbench.rehearsal.replay.layouts import Layout, layout_of
from workbench.rehearsal.replay.problems import ReplayError

ENTRY_MAX: Final = 32 * 2**20
"""Maximum length of one entry. The API server accepts objects of up to 3 MiB, and an audit event holds two of them."""

TRUNCATED: Final = "The file ends in the middle of an entry; that entry is left out."
CUT_OFF: Final = "The compressed file ends too early; what follows its last whole part is left out."
_GZIP: Final = b"\x1f\x8b"
_HEAD: Final = 2**16
_CHUNK: Final = 2**20
_NEAR: Final = 12
"""Characters before the end of a text in which a cut-off number, word or escape may start."""
_SPACE: Final = re.compile(r"[\s,]*")
_STAMP: Final = re.compile(rb"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z\s+(?=\{)")
"""What precedes each line of a log group that CloudWatch exported to S3."""
_T = TypeVar("_T")
_DECODER: Final = json.JSONDecoder()


@dataclass(frozen=True)
class Entry:
    """One entry: its value, and the line on which it starts."""

    line: int
    value: Any


@dataclass
class Source:
    """A file of JSON entries.

    Parameters
    ----------
    path
        The file.
    notes
        Problems that did not prevent reading it, as sentences.
    """

    path: Path
    notes: list[str] = field(default_factory=list)
    line: int | None = None
    """Where the last entry starts; None after the last."""

    def open(self) -> BinaryIO:
        """Open the file, uncompressed.

        Raises
        ------
        ReplayError
            It cannot be read.
        """
        try:
            file = self.path.open("rb")
        except FileNotFoundError:
            raise ReplayError(self.path, "file not found.") from None
        except IsADirectoryError:
            raise ReplayError(self.path, "is a folder.", "Give one file.") from None
        except OSError as error:
            raise ReplayError(self.path, f"the file cannot be read: {error.strerror}.") from None
        if file.peek(2)[:2] != _GZIP:
            return file
        file.close()
        return io.BufferedReader(gzip.GzipFile(self.path, "rb"))

    def head(self) -> str:
        """Return the beginning of the file's text.

        Raises
        ------
        ReplayError
            It is empty, or not text in UTF-8.
        """
        with self.open() as file:
            start = self.read(file, _HEAD)
        if not start.strip():
            raise ReplayError(self.path, "the file is empty.")
        if start[:2] in {b"\xff\xfe", b"\xfe\xff"}:
            raise ReplayError(self.path, "is text in UTF-16, as PowerShell writes it.", "Save it in UTF-8.")
        text = start.decode("utf-8-sig", errors="replace")
        if "\x00" in text or text.count("�") > 1:
            raise ReplayError(self.path, "is not text.", "Give a file of one of the formats in docs/rehearsal.md.")
        return text

    def entries(self, keep: Callable[[bytes], bool] | None = None) -> Iterator[Entry]:
        """Yield the entries; of files with one entry on each line, only the lines for which ``keep`` is true.

        Raises
        ------
        ReplayError
            A part of the file is not JSON.
        """
        layout, start = layout_of(self.head())
        with self.open() as file:
            is_array = layout is Layout.ARRAY
            entries = (
                self._lines(file, keep) if layout is Layout.LINES else self._values(file, start if is_array else None)
            )
            for entry in entries:
                self.line = entry.line
                yield entry
        self.line = None

    def _lines(self, file: BinaryIO, keep: Callable[[bytes], bool] | None) -> Iterator[Entry]:
        number = 0
        while line := self._read_line(file):
            number += 1
            if len(line) > ENTRY_MAX:
                raise self.too_long(number)
            if not line.startswith(b"{"):
                line = _STAMP.sub(b"", line.removeprefix(b"\xef\xbb\xbf").strip(), count=1)
                if not line:
                    continue
                if not line.startswith((b"{", b"[")):
                    raise self.not_json(number)
            if keep and not keep(line):
                continue
            try:
                value = json.loads(line)
            except ValueError:
                if self._read_line(file):
                    raise self.not_json(number) from None
                self._add(TRUNCATED)
                return
            except RecursionError:
                raise self.too_deep(number) from None
            yield Entry(number, value)

    def _values(self, file: BinaryIO, start: int | None) -> Iterator[Entry]:
        text = _Text(self, file, start or 0)
        first = True
        while True:
            text.skip()
            if text.is_at_end:
                if start is not None:
                    self._add(TRUNCATED)
                return
            if start is not None and text.is_at("]"):
                return
            if not first and not text.is_at("{["):
                raise self.not_json(text.line)
            line, value = text.line, text.value()
            if value is None:
                self._add(TRUNCATED)
                return
            first = False
            yield Entry(line, value)

    def read(self, file: BinaryIO, size: int) -> bytes:
        """Return the next bytes of the open file; none at its end, or where it is cut off."""
        return self.guarded(lambda: file.read(size), b"")

    def _read_line(self, file: BinaryIO) -> bytes:
        return self.guarded(lambda: file.readline(ENTRY_MAX + 1), b"")

    def guarded(self, get: Callable[[], _T], end: _T) -> _T:
        """Return what ``get`` reads from the open file, or ``end`` where a compressed file is cut off.

        Raises
        ------
        ReplayError
            The compressed file is damaged.
        """
        try:
            return get()
        except EOFError:
            self._add(CUT_OFF)
            return end
        except (gzip.BadGzipFile, zlib.error):
            raise ReplayError(self.path, "the compressed file is damaged.", "Export or copy it again.") from None

    def _add(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)

    def not_json(self, line: int) -> ReplayError:
        """Return the error of a line that is not JSON."""
        return ReplayError(
            self.path,
            "is not JSON; each entry must be a JSON object.",
            "Remove the line, or export it again.",
            line=line,
        )

    def too_long(self, line: int) -> ReplayError:
        """Return the error of an entry that is too long."""
        return ReplayError(self.path, f"an entry is longer than {ENTRY_MAX // 2**20} MiB.", line=line)

    def too_deep(self, line: int) -> ReplayError:
        """Return the error of an entry with more levels than can be read."""
        return ReplayError(self.path, "an entry is nested too deeply.", "Remove it, or export it again.", line=line)


class _Text:
    """The part of the text that is being decoded."""

    def __init__(self, source: Source, file: BinaryIO, start: int) -> None:
        self._source, self._file = source, file
        self._text, self._at, self._line, self._counted = "", 0, 1, 0
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")(errors="replace")
        self._more()
        self._at = start

    @property
    def line(self) -> int:
        """The line of the next character."""
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        return self._line

    @property
    def is_at_end(self) -> bool:
        """Whether nothing is left."""
        return self._at >= len(self._text)

    def is_at(self, characters: str) -> bool:
        """Return whether the next character is one of these."""
        return self._text[self._at] in characters

    def skip(self) -> None:
        """Skip space and commas."""
        while True:
            match = _SPACE.match(self._text, self._at)
            self._at = match.end() if match else self._at
            if not self.is_at_end or not self._more():
                return

    def value(self) -> Any:
        """Return the next value; None if the text ends inside it."""
        while True:
            try:
                value, self._at = _DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                if not (error.msg.startswith("Unterminated") or error.pos >= len(self._text) - _NEAR):
                    self._at = error.pos
                    raise self._source.not_json(self.line) from None
                if len(self._text) - self._at > ENTRY_MAX:
                    raise self._source.too_long(self.line) from None
                if not self._more():
                    return None
            except RecursionError:
                raise self._source.too_deep(self.line) from None
            else:
                return value

    def _more(self) -> bool:
        chunk = self._source.read(self._file, _CHUNK)
        if not chunk:
            return False
        _ = self.line
        self._text = self._text[self._at :] + self._decoder.decode(chunk)
        self._at = self._counted = 0
        return True
