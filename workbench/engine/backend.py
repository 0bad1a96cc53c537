"""The engine's state files: read, check and restore them without the engine.

The engine's file backend keeps the current state, the previous one (``.bak``), a copy of each finished update, and a
checksum file for every file: https://www.pulumi.com/docs/iac/concepts/state-and-backends/#local-filesystem.
"""

import base64
import hashlib
import json
import re
import socket
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import psutil

from workbench.engine.pending import operations
from workbench.system.files import write_private
from workbench.system.paths import APP, PRIVATE, data_dir, unusable
from workbench.system.processes import living

COPIES_KEPT: Final = 20
"""Number of older states of a stack on this machine that are kept, of updates and of backups each."""

_COPY: Final = re.compile(r".+[-.](\d{10,})\.")
"""File of an update or backup, with its time: https://github.com/pulumi/pulumi/blob/v3.259.0/pkg/backend/diy/state.go."""


class CorruptStateError(Exception):
    """A state file is corrupt; the text says how."""


@dataclass(frozen=True)
class EngineLock:
    """The engine's own lock on a stack; it remains when the process that took it is killed."""

    file: Path
    pid: int
    host: str
    user: str
    since: str

    @classmethod
    def read(cls, file: Path) -> "EngineLock":
        """Return the lock in a file, process id 0 if that is damaged. Raises ``UserError`` if access is denied."""
        try:
            lock = json.loads(file.read_bytes())
            return cls(file, int(lock["pid"]), lock["hostname"], lock["username"], lock["timestamp"])
        except PermissionError as error:
            raise unusable(error) from None
        except (OSError, ValueError, KeyError, TypeError, OverflowError):
            return cls(file, 0, socket.gethostname(), "?", "?")

    @property
    def is_elsewhere(self) -> bool:
        """Whether another machine wrote it, so that its process cannot be checked here."""
        return self.host != socket.gethostname()

    @property
    def is_alive(self) -> bool:
        """Whether the process that wrote it still runs on this machine."""
        try:
            written = datetime.fromisoformat(self.since).timestamp()
        except (ValueError, TypeError):
            return False
        process = living(self.pid, before=written) if self.pid > 0 else None
        with suppress(psutil.Error):  # it has just ended
            return process is not None and "pulumi" in process.name()
        return False

    def remove(self) -> None:
        """Delete the lock file and its checksum."""
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
        Folder of the backend. Default: the backend of local stacks.
    """

    stack: str
    folder: Path | None = None

    @property
    def current(self) -> Path:
        """File of the current state."""
        return self._root / "stacks" / APP / f"{self.stack}.json"

    def copies(self) -> list[Path]:
        """Return older states, newest first."""
        files = [
            self.current.with_suffix(".json.bak"),
            *(self._root / "history" / APP / self.stack).glob("*.checkpoint.json"),
            *(self._root / "backups" / APP / self.stack).glob("*.json"),
        ]
        return sorted((file for file in files if file.exists()), key=lambda file: file.stat().st_mtime, reverse=True)

    def locks(self) -> list[EngineLock]:
        """Return the engine's locks on the stack."""
        locks = self._root / "locks" / "organization" / APP / self.stack
        return [EngineLock.read(file) for file in sorted(locks.glob("*.json"))]

    def drop_old_copies(self) -> None:
        """Delete all but the newest ``COPIES_KEPT`` older states; the engine keeps one per update and deletes none."""
        for folder in (self._root / "history" / APP / self.stack, self._root / "backups" / APP / self.stack):
            runs = defaultdict[int, list[Path]](list)
            for file in folder.glob("*"):
                if number := _COPY.match(file.name):
                    runs[int(number[1])].append(file)
            for run in sorted(runs)[:-COPIES_KEPT]:
                for file in runs[run]:
                    file.unlink(missing_ok=True)

    def drop_stale_locks(self) -> None:
        """Delete the locks of processes that have ended."""
        for lock in self.locks():
            if not lock.is_elsewhere and not lock.is_alive:
                lock.remove()

    def deployment(self) -> dict[str, Any]:
        """Return the current state; empty for a stack that was never deployed.

        Raises
        ------
        CorruptStateError
            The file is corrupt, or is missing although older copies exist.
        """
        if not self.current.exists():
            # The engine can be configured to compress states; those are not read here.
            if self.copies() and not self.current.with_suffix(".json.gz").exists():
                raise CorruptStateError("the file is missing")
            return {}
        try:
            return read(self.current)
        except CorruptStateError:
            before = self.current.with_suffix(".json.bak")
            # A save interrupted between checksum and content leaves the previous content. A save interrupted within
            # the checksum file leaves that empty, and then the engine reads neither.
            if (
                _recorded_checksum(self.current)
                and _is_intact(before)
                and self.current.is_file()
                and self.current.read_bytes() == before.read_bytes()
            ):
                return read(before)
            raise

    def newest_intact_copy(self) -> Path | None:
        """Return the newest intact older state; None if there is none."""
        return next(filter(_is_intact, self.copies()), None)

    def set_aside(self) -> None:
        """Rename the corrupt state and corrupt copies: nothing is lost, and the engine no longer reads them."""
        for file in (self.current, *self.copies()):
            if file.exists() and not _is_intact(file):
                when = f"damaged-{datetime.now().astimezone():%Y%m%dT%H%M%S}"
                for each in (file, _attributes(file)):
                    if each.exists():
                        each.rename(each.with_name(f"{each.name}.{when}"))

    def restore(self, copy: Path) -> None:
        """Restore an older state as the current one."""
        _write(self.current, copy.read_bytes())

    def save(self, deployment: dict[str, Any]) -> None:
        """Save a deployment as the current state; keeps the previous one as ``.bak``, as the engine does."""
        content = self.current.read_bytes()
        _write(self.current.with_suffix(".json.bak"), content)
        document = json.loads(content)
        document["checkpoint"]["latest"] = deployment
        _write(self.current, json.dumps(document, indent=4).encode())

    @property
    def _root(self) -> Path:
        return self.folder / ".pulumi" if self.folder else _root()


def address() -> str:
    """Return the local backend's URL; creates its folder if missing."""
    folder = data_dir() / "state"
    folder.mkdir(exist_ok=True, mode=PRIVATE)
    return f"file://{folder}"


def meta_is_damaged() -> bool:
    """Return whether the backend's layout file exists but is unreadable; no engine command works then."""
    file = _meta()
    try:
        return file.exists() and not (
            file.is_file()
            and file.read_bytes().startswith(b"version:")
            and (not _attributes(file).exists() or _recorded_checksum(file))
        )
    except PermissionError as error:
        raise unusable(error) from None


def restore_meta() -> None:
    """Rewrite the backend's layout file; its content is constant in this release of the engine."""
    _write(_meta(), b"version: 1\n")


def _meta() -> Path:
    return _root() / "meta.yaml"


def read(file: Path) -> dict[str, Any]:
    """Return the deployment in a checkpoint file.

    Raises
    ------
    CorruptStateError
        The file is corrupt.
    UserError
        Access to it is denied: that is not damage, and an older copy must not replace it.
    """
    try:
        content = file.read_bytes()
    except PermissionError as error:
        raise unusable(error) from None
    except OSError as error:
        raise CorruptStateError(f"the file cannot be read: {error.strerror}") from None
    if not content.strip(b"\0 \n"):
        raise CorruptStateError("the file is empty")
    try:
        document = json.loads(content)
    except ValueError as error:
        raise CorruptStateError(f"the file is truncated or invalid JSON: {error}") from None
    # A file restored by hand has no checksum. An unreadable checksum stops the engine too.
    if _attributes(file).exists() and _recorded_checksum(file) != _checksum(content):
        raise CorruptStateError("the content does not match its checksum")
    try:
        deployment = document["checkpoint"]["latest"] or {}
        operations(deployment)  # must be readable, or they cannot be repaired
        return {**deployment, "resources": list(deployment.get("resources") or [])}
    except (KeyError, TypeError, AttributeError):
        raise CorruptStateError("the file is not an engine state") from None


def _is_intact(file: Path) -> bool:
    try:
        read(file)
    except CorruptStateError:
        return False
    return True


def _write(file: Path, content: bytes) -> None:
    """Write checksum and file in the engine's order, so that a kill in between is not taken for corruption."""
    write_private(_attributes(file), json.dumps({"md5": base64.b64encode(_checksum(content)).decode()}))
    write_private(file, content)


def _root() -> Path:
    return data_dir() / "state" / ".pulumi"


def _attributes(file: Path) -> Path:
    return file.with_name(f"{file.name}.attrs")


def _recorded_checksum(file: Path) -> bytes | None:
    try:
        return base64.b64decode(json.loads(_attributes(file).read_bytes())["md5"])
    except PermissionError as error:
        raise unusable(error) from None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _checksum(content: bytes) -> bytes:
    return hashlib.md5(content, usedforsecurity=False).digest()
