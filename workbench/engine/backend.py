"""The engine's state as files: what may be read, checked and put back without the engine.

The engine's file backend keeps the last state, the one before it (``.bak``), a copy of each finished update, and beside
every file its checksum: https://www.pulumi.com/docs/iac/concepts/state-and-backends/#local-filesystem.
"""

import base64
import hashlib
import json
import socket
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from workbench.engine.pending import operations
from workbench.system.files import write_private
from workbench.system.paths import APP, PRIVATE, data_dir
from workbench.system.processes import living


class DamagedError(Exception):
    """A state file is not what the engine wrote; the text says how one sees it."""


@dataclass(frozen=True)
class EngineLock:
    """The engine's own mark that a process changes the stack; it stays when the process is killed."""

    file: Path
    pid: int
    host: str
    user: str
    since: str

    @classmethod
    def read(cls, file: Path) -> "EngineLock":
        """Return what a lock's file says; process 0 if it says nothing that can be read."""
        try:
            said = json.loads(file.read_bytes())
            return cls(file, int(said["pid"]), said["hostname"], said["username"], said["timestamp"])
        except (OSError, ValueError, KeyError, TypeError, OverflowError):
            return cls(file, 0, socket.gethostname(), "?", "?")

    @property
    def is_elsewhere(self) -> bool:
        """Whether another machine wrote it, so that nothing can be said about the process."""
        return self.host != socket.gethostname()

    @property
    def is_alive(self) -> bool:
        """Whether the process that wrote it still runs on this machine."""
        try:
            written = datetime.fromisoformat(self.since).timestamp()
        except (ValueError, TypeError):
            return False
        process = living(self.pid, before=written) if self.pid > 0 else None
        return process is not None and "pulumi" in process.name()

    def remove(self) -> None:
        """Delete the lock."""
        _attributes(self.file).unlink(missing_ok=True)
        if self.file.is_dir():
            self.file.rmdir()
        else:
            self.file.unlink(missing_ok=True)


@dataclass(frozen=True)
class StateFiles:
    """Files of one stack in a file backend.

    Parameters
    ----------
    stack
        Its name.
    folder
        The backend's. Default: that of local stacks.
    """

    stack: str
    folder: Path | None = None

    @property
    def current(self) -> Path:
        """The state."""
        return self._root / "stacks" / APP / f"{self.stack}.json"

    def copies(self) -> list[Path]:
        """Return older states, newest first."""
        found = [
            self.current.with_suffix(".json.bak"),
            *(self._root / "history" / APP / self.stack).glob("*.checkpoint.json"),
            *(self._root / "backups" / APP / self.stack).glob("*.json"),
        ]
        return sorted((file for file in found if file.exists()), key=lambda file: file.stat().st_mtime, reverse=True)

    def locks(self) -> list[EngineLock]:
        """Return the engine's locks on the stack."""
        locks = self._root / "locks" / "organization" / APP / self.stack
        return [EngineLock.read(file) for file in sorted(locks.glob("*.json"))]

    def drop_stale_locks(self) -> None:
        """Delete the locks of processes that have ended."""
        for lock in self.locks():
            if not lock.is_elsewhere and not lock.is_alive:
                lock.remove()

    def deployment(self) -> dict[str, Any]:
        """Return the state, empty for a stack that was never up.

        Raises
        ------
        DamagedError
            The file is missing though there was one, or it is not what the engine wrote.
        """
        if not self.current.exists():
            # The engine can be told to compress states; those are not read here.
            if self.copies() and not self.current.with_suffix(".json.gz").exists():
                raise DamagedError("it is missing")
            return {}
        try:
            return read(self.current)
        except DamagedError:
            before = self.current.with_suffix(".json.bak")
            # A save that was interrupted between checksum and content leaves the content of the save before it. One
            # that was interrupted in the checksum's own file leaves that empty, and then the engine reads neither.
            if (
                _noted_checksum(self.current)
                and _is_whole(before)
                and self.current.is_file()
                and self.current.read_bytes() == before.read_bytes()
            ):
                return read(before)
            raise

    def newest_whole_copy(self) -> Path | None:
        """Return the newest older state that is undamaged."""
        return next(filter(_is_whole, self.copies()), None)

    def set_aside(self) -> None:
        """Give the damaged state and its broken copies other names, so that nothing is lost and nothing is read."""
        for file in (self.current, *self.copies()):
            if file.exists() and not _is_whole(file):
                when = f"damaged-{datetime.now().astimezone():%Y%m%dT%H%M%S}"
                for each in (file, _attributes(file)):
                    if each.exists():
                        each.rename(each.with_name(f"{each.name}.{when}"))

    def restore(self, copy: Path) -> None:
        """Make an older state the current one."""
        _write(self.current, copy.read_bytes())

    def save(self, deployment: dict[str, Any]) -> None:
        """Make a deployment the current one; the last one stays as ``.bak``, as the engine does it."""
        content = self.current.read_bytes()
        _write(self.current.with_suffix(".json.bak"), content)
        document = json.loads(content)
        document["checkpoint"]["latest"] = deployment
        _write(self.current, json.dumps(document, indent=4).encode())

    @property
    def _root(self) -> Path:
        return self.folder / ".pulumi" if self.folder else _root()


def address() -> str:
    """Return the local backend's address; its folder is made if it is missing."""
    folder = data_dir() / "state"
    folder.mkdir(exist_ok=True, mode=PRIVATE)
    return f"file://{folder}"


def meta_is_damaged() -> bool:
    """Return whether the note about the backend's own layout is there and cannot be read: nothing works without it."""
    file = _meta()
    return file.exists() and not (
        file.is_file()
        and file.read_bytes().startswith(b"version:")
        and (not _attributes(file).exists() or _noted_checksum(file))
    )


def restore_meta() -> None:
    """Write the note about the backend's layout anew; it says nothing else in this release of the engine."""
    _write(_meta(), b"version: 1\n")


def _meta() -> Path:
    return _root() / "meta.yaml"


def read(file: Path) -> dict[str, Any]:
    """Return the deployment in a checkpoint file.

    Raises
    ------
    DamagedError
        The file is not what the engine wrote.
    """
    try:
        content = file.read_bytes()
    except OSError as error:
        raise DamagedError(f"it cannot be read: {error.strerror}") from None
    if not content.strip(b"\0 \n"):
        raise DamagedError("it is empty")
    try:
        document = json.loads(content)
    except ValueError as error:
        raise DamagedError(f"it ends or breaks off: {error}") from None
    # A file that was put back by hand has no checksum. One that cannot be read stops the engine, too.
    if _attributes(file).exists() and _noted_checksum(file) != _checksum(content):
        raise DamagedError("its content differs from its checksum")
    try:
        deployment = document["checkpoint"]["latest"] or {}
        operations(deployment)  # what cannot be told cannot be mended
        return {**deployment, "resources": list(deployment.get("resources") or [])}
    except (KeyError, TypeError, AttributeError):
        raise DamagedError("it is no state of the engine") from None


def _is_whole(file: Path) -> bool:
    try:
        read(file)
    except DamagedError:
        return False
    return True


def _write(file: Path, content: bytes) -> None:
    """Write a file and its checksum in the engine's order, so that a kill in between is told from damage."""
    write_private(_attributes(file), json.dumps({"md5": base64.b64encode(_checksum(content)).decode()}))
    write_private(file, content)


def _root() -> Path:
    return data_dir() / "state" / ".pulumi"


def _attributes(file: Path) -> Path:
    return file.with_name(f"{file.name}.attrs")


def _noted_checksum(file: Path) -> bytes | None:
    try:
        return base64.b64decode(json.loads(_attributes(file).read_bytes())["md5"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _checksum(content: bytes) -> bytes:
    return hashlib.md5(content, usedforsecurity=False).digest()
