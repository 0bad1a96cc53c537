"""Copying a program's output to ours while it runs, so that a closed pipe cannot kill the program."""

import errno
import os
import stat
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from tempfile import TemporaryFile
from types import TracebackType
from typing import IO, Any, Final, Self, TextIO

from workbench.system.errors import UserError

_PAUSE: Final = 0.05


class Copies:
    """Files that a program writes, copied to streams of this process until the block ends.

    A pipe would break when this process is killed, and the program with it; a file does not. If the reader of a stream
    is gone or a write fails, the rest for that stream is dropped.

    Parameters
    ----------
    targets
        Streams by name, such as ``{"stdout": sys.stdout}``.
    on_closed
        Called once, from the copying thread, when the reader of a stream is gone.
    """

    def __init__(self, targets: Mapping[str, TextIO], on_closed: Callable[[], None]) -> None:
        self.files: dict[str, IO[bytes]] = {name: TemporaryFile() for name in targets}  # noqa: SIM115 closed at the end of the block
        """Files that the program must write to, by target name."""
        self.is_closed = False
        """Whether the reader of a stream is gone."""
        self.failures: dict[str, OSError] = {}
        """Why writing to a stream failed, by its name; without readers that are gone."""
        self._targets, self._on_closed = dict(targets), on_closed
        self._read = dict.fromkeys(targets, 0)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        """Start copying."""
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Copy the rest and stop."""
        self._ended.set()
        self._thread.join()
        for file in self.files.values():
            file.close()

    def _run(self) -> None:
        is_last = False
        while not is_last:
            is_last = self._ended.wait(_PAUSE)
            for name, target in list(self._targets.items()):
                self._copy(name, target)

    def _copy(self, name: str, target: TextIO) -> None:
        # The program shares the file's offset, so it is left alone.
        chunk = _new(self.files[name], self._read[name])
        self._read[name] += len(chunk)
        try:
            _write(target, chunk)
        except (BrokenPipeError, ValueError):
            self._drop(name, target)
            if not self.is_closed:
                self.is_closed = True
                self._on_closed()
        except OSError as error:  # such as a full disk: the program continues, so that its change is complete
            self._drop(name, target)
            self.failures[name] = error

    def _drop(self, name: str, target: TextIO) -> None:
        del self._targets[name]
        discard(target)


def _new(file: IO[bytes], start: int) -> bytes:
    return os.pread(file.fileno(), max(os.fstat(file.fileno()).st_size - start, 0), start)


def _write(target: TextIO, chunk: bytes) -> None:
    if not chunk:
        return
    if binary := getattr(target, "buffer", None):
        _flush(target)
        while chunk:
            try:
                chunk = chunk[binary.write(chunk) :]
            except BlockingIOError as full:
                chunk = chunk[full.characters_written :]
                time.sleep(_PAUSE)
        _flush(binary)
    else:  # a replacement without bytes
        target.write(chunk.decode(errors="replace"))


def _flush(stream: IO[Any]) -> None:
    """Flush a stream; waits for the reader of a pipe that does not block."""
    while True:
        try:
            stream.flush()
        except BlockingIOError:
            time.sleep(_PAUSE)
        else:
            return


def discard(stream: TextIO) -> None:
    """Drop all further output to a stream that cannot be written, what it still buffers included."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def is_lost_terminal(stream: TextIO, error: OSError) -> bool:
    """Return whether a stream could not be written since its terminal is gone; then drop all further output to it.

    A disk fails with the same code, but is no character device.
    """
    with suppress(OSError, ValueError, AttributeError):
        if error.errno == errno.EIO and stat.S_ISCHR(os.fstat(stream.fileno()).st_mode):
            discard(stream)
            return True
    return False


def unwritable(error: OSError) -> UserError:
    """Return the error for standard output that cannot be written, and drop all further output to it."""
    discard(sys.stdout)
    return UserError(f"Cannot write to standard output: {error.strerror}.", "Free the disk or write elsewhere.")


def is_terminal(stream: TextIO) -> bool:
    """Return whether a stream is a terminal; False if it is closed."""
    with suppress(AttributeError, ValueError):
        return stream.isatty()
    return False
