"""Licences of Python packages, from the metadata of what is installed."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Final, Self

import yaml
from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression
from packaging.utils import canonicalize_name

from tools.supply_chain.requirements import Pin

TABLE: Final = Path(__file__).with_name("licences.yaml")

FIELDS: Final = ("License-Expression", "License")
"""Fields of the metadata that may be an expression of SPDX; the second one may also be text."""

CLASSIFIERS: Final = {
    "Apache Software License": "Apache-2.0",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
"""Classifiers that mean one licence; that of BSD does not."""

_CLASSIFIER: Final = "License :: OSI Approved :: "


@dataclass(frozen=True)
class Table:
    """What ``licences.yaml`` says."""

    allowed: frozenset[str]
    stated: dict[str, str]
    """Licences by normalized name of a package, for those whose metadata names none."""
    accepted: frozenset[str]
    """Normalized names of packages whose other licence is accepted."""

    @classmethod
    def load(cls, file: Path = TABLE) -> Self:
        """Read the file."""
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
        stated = {name: canonicalize_license_expression(each["licence"]) for name, each in content["stated"].items()}
        return cls(frozenset(content["allowed"]), dict(stated), frozenset(content["accepted"]))

    def licence(self, package: Distribution) -> str:
        """Return the licence of a package as an expression of SPDX; empty if it is not known."""
        metadata = package.metadata
        for text in (each for field in FIELDS for each in metadata.get_all(field) or ()):
            if found := _spdx(text):
                return found
        given = [each.removeprefix(_CLASSIFIER) for each in metadata.get_all("Classifier") or () if _CLASSIFIER in each]
        named = CLASSIFIERS.get(given[0], "") if len(given) == 1 else ""
        return named or self.stated.get(canonicalize_name(package.name), "")

    def allows(self, licence: str) -> bool:
        """Return whether an expression of SPDX leaves the choice of an allowed licence; none with parentheses does."""
        return "(" not in licence and any(
            self.allowed.issuperset(choice.split(" AND ")) for choice in licence.split(" OR ")
        )

    def problems(self, pins: Iterable[Pin]) -> Iterator[str]:
        """Yield the packages whose licence is not known or not allowed, and entries that nothing needs any more."""
        names = set[str]()
        for pin in pins:
            names.add(pin.name)
            try:
                licence = self.licence(distribution(pin.name)) if pin.is_installed_here else ""
            except PackageNotFoundError:
                yield f"{pin.name}: not installed, so its licence cannot be read; run `make .venv/.installed`"
                continue
            if not pin.is_installed_here or pin.name in self.accepted:
                continue
            if not licence:
                yield f"{pin.name}: names no licence of SPDX; read it in the package and add it to {TABLE.name}"
            elif not self.allows(licence):
                yield f"{pin.name}: {licence} is not allowed (allowed: {', '.join(sorted(self.allowed))})"
        for name in sorted((self.stated.keys() | self.accepted) - names):
            yield f"{TABLE.name}: {name}: is not pinned any more; remove it"


def _spdx(text: str) -> str:
    try:
        return canonicalize_license_expression(text)
    except InvalidLicenseExpression:
        return ""
