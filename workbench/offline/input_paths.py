"""Paths of inputs, such as ``scalingConfig.minSize``, ``taints[].effect`` and ``addonProfiles{}.enabled``."""

from collections.abc import Iterable
from typing import Final

INTO: Final = "[]{}"
"""Ends of what a path goes into: the objects of a list and of a map."""


def inside(paths: Iterable[str], outer: str) -> dict[str, str]:
    """Return the paths directly inside an object or the objects that one holds, by their own name.

    Parameters
    ----------
    outer
        Empty for those of the resource itself.
    """
    found = ((path, *path.rpartition(".")) for path in paths)
    return {name: path for path, around, _, name in found if around.rstrip(INTO) == outer}
