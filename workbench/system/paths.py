"""The cache folder (rebuildable) and the data folder (state, keys and logs)."""

import errno
import hashlib
import os
import pwd
import shutil
from collections.abc import Callable
from pathlib import Path

import platformdirs

from workbench.system.errors import UserError

APP = "igz-clusters"
PRIVATE = 0o700
FOLDER_VARIABLE = "IGZ_CLUSTERS_STACKS"
"""Variable that names the folder of the stack files; set by ``--directory``."""
_DISK_ERRORS = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOTDIR}
"""Error codes of a disk that is full or not writable."""
_NAMELESS = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.ESTALE, errno.ENOLCK}
"""Error codes that only a file can have; writing and locking report them without the file's name."""
DATA_BYTES = 300_000_000
"""Free space for etcd's log and snapshots (128 MB at least), logs, and several copies of a large state."""

PROJECT_ROOT = Path(__file__).resolve().parents[2]
"""The folder of ``Pulumi.yaml``: the checkout, or the folder of a wheel, which is laid out as a checkout."""


def cache_dir() -> Path:
    """Return the folder of rebuildable files; ``IGZ_CLUSTERS_CACHE`` overrides the user's cache folder."""
    return _folder("IGZ_CLUSTERS_CACHE", platformdirs.user_cache_path)


def data_dir() -> Path:
    """Return the folder of state, keys and logs, mode 0700; ``IGZ_CLUSTERS_DATA`` overrides it."""
    return _folder("IGZ_CLUSTERS_DATA", platformdirs.user_data_path, mode=PRIVATE)


def data_path() -> Path:
    """Return the path of that folder without creating it: a render leaves nothing behind."""
    return _named("IGZ_CLUSTERS_DATA", platformdirs.user_data_path)


def key_of(place: Path) -> str:
    """Return a short text that stands for a path in the names of files about it."""
    return hashlib.sha256(str(place.resolve()).encode()).hexdigest()[:12]


def require_space() -> None:
    """Check that state and a control plane's data have room to grow, before an update starts.

    Raises
    ------
    UserError
        The data folder's disk is nearly full.
    """
    folder = data_dir()
    free = shutil.disk_usage(folder).free
    if free < DATA_BYTES:
        raise UserError(
            f"The disk of {folder} is nearly full: {free / 1e6:.0f} MB free, {DATA_BYTES / 1e6:.0f} MB needed.",
            "Make space there, or set IGZ_CLUSTERS_DATA to a folder on a larger disk.",
        )


def problem_of(error: OSError) -> UserError | None:
    """Return the error about a file or disk that the user can fix; None if ``error`` is about something else.

    An HTTP response has a file name too, its address, but no error code.
    """
    is_of_a_file = error.errno is not None and (error.filename or error.errno in _NAMELESS)
    return unusable(error) if is_of_a_file else None


def unusable(error: OSError, variable: str = "IGZ_CLUSTERS_DATA or IGZ_CLUSTERS_CACHE") -> UserError:
    """Return the error for an unusable file, naming the variable that selects another folder."""
    if isinstance(error, PermissionError) and error.filename:
        return _not_ours(Path(error.filename), error)
    file = error.filename or "a file"
    if error.errno in _DISK_ERRORS:
        hint = f"Set {variable} to a writable folder on a disk with free space."
        return UserError(f"Cannot write to {file}: {error.strerror}.", hint)
    if error.errno == errno.ENOLCK:
        hint = f"Set {variable} to a folder on a file system with locks, such as a local disk."
        return UserError(f"Cannot lock {file}: {error.strerror}.", hint)
    hint = "Check what is at that path, and move it away." if error.filename else f"Check the disks of {variable}."
    return UserError(f"Cannot use {file}: {error.strerror}.", hint)


def _not_ours(file: Path, error: OSError) -> UserError:
    place = file
    while not os.access(place, os.F_OK) and place != place.parent:
        place = place.parent  # the nearest one that can be seen
    owner, we = _name(place.stat().st_uid), _name(os.geteuid())
    if owner == we:
        hint = f"Make it accessible with `chmod u+rwX {place}`, or choose another folder."
    else:
        hint = f"Run the command as {owner}, or give the file back: `sudo chown -R {we} {place}`."
    belongs = f"{place if place != file else 'it'} belongs to {owner}, and this command runs as {we}"
    return UserError(f"Cannot access {file}: {error.strerror}; {belongs}. It was not changed.", hint)


def _name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"


def _named(variable: str, default: Callable[[str], Path]) -> Path:
    try:
        folder = Path(os.environ.get(variable) or default(APP)).expanduser().resolve()
    except RuntimeError:
        raise UserError(f"No home folder found, and {variable} is not set.", f"Set {variable}.") from None
    if set(str(folder)) & set("#%?"):
        raise UserError(
            f"The folder {folder} cannot be used: its path must not contain '#', '%' or '?' (special in a backend URL)."
        )
    return folder


def _folder(variable: str, default: Callable[[str], Path], mode: int = 0o755) -> Path:
    folder = _named(variable, default)
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=mode)
        private = mode == PRIVATE and folder.stat().st_mode & 0o077
    except OSError as error:
        raise unusable(error, variable) from None
    if private:
        raise UserError(
            f"The folder {folder} is accessible to other users, but must be private: it holds keys.",
            f"chmod 700 {folder}",
        )
    return folder
