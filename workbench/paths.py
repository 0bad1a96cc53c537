"""Where the project keeps what it builds (cache) and what it must not lose (data)."""

import os
import shutil
from pathlib import Path

import platformdirs

from workbench.errors import UserError

APP = "igz-clusters"
PRIVATE = 0o700
DATA_BYTES = 300_000_000
"""Free space for etcd's log and snapshots (128 MB at least), logs, and several copies of a large state."""

PROJECT_ROOT = Path(__file__).resolve().parent.parent
"""The checkout: the folder of ``Pulumi.yaml``."""


def cache_dir() -> Path:
    """Return the folder of rebuildable things; ``IGZ_CLUSTERS_CACHE`` overrides the user's cache folder."""
    return _folder("IGZ_CLUSTERS_CACHE", platformdirs.user_cache_path(APP))


def data_dir() -> Path:
    """Return the folder of state, keys and logs, mode 0700; ``IGZ_CLUSTERS_DATA`` overrides it."""
    return _folder("IGZ_CLUSTERS_DATA", platformdirs.user_data_path(APP), mode=PRIVATE)


def require_space() -> None:
    """Check that state and a control plane's data have room to grow: a full disk in the middle costs more.

    Raises
    ------
    UserError
        The data folder's disk is nearly full.
    """
    folder = data_dir()
    free = shutil.disk_usage(folder).free
    if free < DATA_BYTES:
        raise UserError(
            f"The disk of {folder} is nearly full: {free / 1e6:.0f} MB free, {DATA_BYTES / 1e6:.0f} MB are needed.",
            "Make space there, or set IGZ_CLUSTERS_DATA to a folder on a larger disk.",
        )


def unusable(error: OSError, variable: str = "IGZ_CLUSTERS_DATA or IGZ_CLUSTERS_CACHE") -> UserError:
    """Return what a user is told about a file that cannot be written, and which variable leads elsewhere."""
    return UserError(
        f"Cannot write to {error.filename or 'a file'}: {error.strerror}.",
        f"Set {variable} to a folder of yours on a disk with space.",
    )


def _folder(variable: str, default: Path, mode: int = 0o755) -> Path:
    folder = Path(os.environ.get(variable) or default).expanduser().resolve()
    if set(str(folder)) & set("#%?"):
        raise UserError(f"The folder {folder} cannot be used: '#', '%' and '?' mean something in a backend's address.")
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=mode)
        private = mode == PRIVATE and folder.stat().st_mode & 0o077
    except OSError as error:
        raise unusable(error, variable) from None
    if private:
        raise UserError(f"The folder {folder} is open to others, and keys would lie in it.", f"chmod 700 {folder}")
    return folder
