"""Where the project keeps what it builds (cache) and what it must not lose (data)."""

import os
from pathlib import Path

import platformdirs

APP = "igz-clusters"

PROJECT_ROOT = Path(__file__).resolve().parent.parent
"""The checkout: the folder of ``Pulumi.yaml``."""


def cache_dir() -> Path:
    """Return the folder of rebuildable things; ``IGZ_CLUSTERS_CACHE`` overrides the user's cache folder."""
    return _folder("IGZ_CLUSTERS_CACHE", platformdirs.user_cache_path(APP))


def data_dir() -> Path:
    """Return the folder of state, keys and logs, mode 0700; ``IGZ_CLUSTERS_DATA`` overrides it."""
    return _folder("IGZ_CLUSTERS_DATA", platformdirs.user_data_path(APP), mode=0o700)


def _folder(variable: str, default: Path, mode: int = 0o755) -> Path:
    folder = Path(os.environ.get(variable) or default).expanduser().resolve()
    folder.mkdir(parents=True, exist_ok=True, mode=mode)
    return folder
