"""The clouds that renders and checks replace: each has a folder next to this file.

Its ``__init__.py`` describes it (``CLOUD``), so no list of folders is needed. It holds ``facts.py`` (``facts()``),
``provider.py`` (``PROVIDER``, which plans), ``noop.py`` (``PROVIDER``, which pretends that planned resources exist)
and ``__main__.py`` (serves the former to the engine).
"""

from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules
from typing import Final

from workbench import offline
from workbench.offline.cloud import OfflineCloud

_FOLDERS: Final = tuple(
    import_module(f"{offline.__name__}.{each.name}") for each in iter_modules(offline.__path__) if each.ispkg
)

CLOUDS: Final[Mapping[str, OfflineCloud]] = {
    folder.CLOUD.package: folder.CLOUD for folder in _FOLDERS if hasattr(folder, "CLOUD")
}
"""Clouds by the package name of their plug-in."""
