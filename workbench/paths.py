"""Where the project keeps what it builds (cache) and what it must not lose (data)."""

import os
from pathlib import Path

import platformdirs

from workbench.errors import UserError

APP = "igz-clusters"
PRIVATE = 0o700

PROJECT_ROOT = Path(__file__).resolve().parent.parent
"""The checkout: the folder of ``Pulumi.yaml``."""


def cache_dir() -> Path:
    """Return the folder of rebuildable things; ``IGZ_CLUSTERS_CACHE`` overrides the user's cache folder."""
    return _folder("IGZ_CLUSTERS_CACHE", platformdirs.user_cache_path(APP))


def data_dir() -> Path:
    """Return the folder of state, keys and logs, mode 0700; ``IGZ_CLUSTERS_DATA`` overrides it."""
    return _folder("IGZ_CLUSTERS_DATA", platformdirs.user_data_path(APP), mode=PRIVATE)


def _folder(variable: str, default: Path, mode: int = 0o755) -> Path:
    folder = Path(os.environ.get(variable) or default).expanduser().resolve()
    if set(str(folder)) & set("#%?"):
        raise UserError(f"The folder {folder} cannot be used: '#', '%' and '?' mean something in a backend's address.")
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=mode)
        private = mode == PRIVATE and folder.stat().st_mode & 0o077
    except OSError as error:
        hint = f"Set {variable} to a folder of yours on a disk with space."
        raise UserError(f"Cannot write to {error.filename}: {error.strerror}.", hint) from None
    if private:
        raise UserError(f"The folder {folder} is open to others, and keys would lie in it.", f"chmod 700 {folder}")
    return folder
