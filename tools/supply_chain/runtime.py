"""Which packages an installed igz-clusters needs, without those of its development."""

from collections.abc import Mapping
from importlib.metadata import distribution
from typing import Final

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PACKAGE: Final = "igz-clusters"

PYTHON: Final = {"python_version": "3.11", "python_full_version": "3.11.0"}
"""The oldest Python, for which `make lock` pins: a newer one that makes a release must not leave out what it needs."""


def dependencies(package: str = PACKAGE) -> dict[str, tuple[str, ...]]:
    """Return what each package needs directly, by normalized name: of ``package`` and of all that it needs.

    Read from what is installed here, so for this system, but for the Python that the pins are for.

    Raises
    ------
    importlib.metadata.PackageNotFoundError
        A package that is needed is not installed.
    """
    needed = dict[str, set[str]]()
    waiting: list[tuple[str, frozenset[str]]] = [(canonicalize_name(package), frozenset())]
    done = set[tuple[str, frozenset[str]]]()
    while waiting:
        name, extras = each = waiting.pop()
        if each in done:
            continue
        done.add(each)
        of_it = _requirements(name, extras)
        needed.setdefault(name, set()).update(of_it)
        waiting += of_it.items()
    return {name: tuple(sorted(of_it)) for name, of_it in sorted(needed.items())}


def _requirements(name: str, extras: frozenset[str]) -> Mapping[str, frozenset[str]]:
    """Return the packages that a package needs with some extras, each with its own extras."""
    found = dict[str, frozenset[str]]()
    for text in distribution(name).requires or ():
        wanted = Requirement(text)
        marker = wanted.marker
        if marker is None or any(marker.evaluate({**PYTHON, "extra": extra}) for extra in (extras or {""})):
            key = canonicalize_name(wanted.name)
            found[key] = found.get(key, frozenset()) | wanted.extras
    return found
