"""Paths of inputs, such as ``scalingConfig.minSize``, ``taints[].effect`` and ``addonProfiles{}.enabled``."""

import re
from collections.abc import Iterable
from typing import Final

INTO: Final = "[]{}"
"""Suffixes of list and map elements in paths."""


def inside(paths: Iterable[str], outer: str) -> dict[str, str]:
    """Return the paths directly inside an object, or inside the elements of a list or map, by their own name.

    Parameters
    ----------
    outer
        Path of the object; empty for the resource itself.
    """
    found = ((path, *path.rpartition(".")) for path in paths)
    return {name: path for path, around, _, name in found if around.rstrip(INTO) == outer}


def around(path: str) -> list[str]:
    """Return an input and those that it is inside, innermost first: ``a.b[].c``, ``a.b``, ``a``."""
    return [path, *(path[: found.start()] for found in reversed(list(re.finditer(r"(\[\]|{})?\.", path))))]
