from importlib.metadata import Distribution
from os import PathLike
from pathlib import Path

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from typing_extensions import override

from tools.supply_chain.licences import Table
from tools.supply_chain.requirements import Pin, pins
from tools.supply_chain.runtime import PACKAGE, dependencies

TABLE = Table(frozenset({"MIT", "Apache-2.0"}), {"stated": "ISC"}, frozenset())


class Package(Distribution):
    def __init__(self, *fields: str, name: str = "thing") -> None:
        self._text = "\n".join(["Metadata-Version: 2.4", f"Name: {name}", "Version: 1", *fields, ""])

    @override
    def read_text(self, filename: str) -> str | None:
        return self._text if filename == "METADATA" else None

    @override
    def locate_file(self, path: str | PathLike[str]) -> Path:
        return Path(path)


def test_the_licences_of_all_pinned_packages_are_allowed() -> None:
    assert list(Table.load().problems(pins().values())) == []


def test_an_installed_igz_clusters_needs_no_package_of_its_development() -> None:
    needed = dependencies()
    assert {"pulumi", "botocore", "grpcio", "pydantic-core"} <= needed.keys() <= {PACKAGE, *pins()}
    assert not {"pytest", "moto", "hatchling", "cyclonedx-python-lib", "ruff"} & needed.keys()
    assert set(needed[PACKAGE]) >= {"pulumi", "typer"}


def test_a_release_made_with_a_newer_python_has_what_the_oldest_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    of_it = ['old; python_version < "3.12"', 'new; python_version >= "3.12"', 'extra; extra == "dev"', "always"]
    needs = {PACKAGE: [f"Requires-Dist: {text}" for text in of_it], "old": [], "always": []}
    monkeypatch.setattr("tools.supply_chain.runtime.distribution", lambda name: Package(*needs[name], name=name))
    monkeypatch.setattr("packaging.markers.default_environment", lambda: _python("3.14"))
    assert dependencies()[PACKAGE] == ("always", "old")


def _python(version: str) -> dict[str, object]:
    return {**default_environment(), "python_version": version, "python_full_version": f"{version}.0"}


@pytest.mark.parametrize(
    ("fields", "licence"),
    [
        (("License-Expression: MIT OR Apache-2.0", "License: BSD"), "MIT OR Apache-2.0"),
        (("License: apache-2.0",), "Apache-2.0"),
        (("License: Apache 2.0", "Classifier: License :: OSI Approved :: Apache Software License"), "Apache-2.0"),
        (("License: Apache 2.0",), ""),
        (("Classifier: License :: OSI Approved :: BSD License",), ""),
        (("Classifier: License :: OSI Approved :: MIT License", "Classifier: License :: OSI Approved :: X"), ""),
        ((), ""),
    ],
)
def test_a_licence_comes_from_what_names_exactly_one(fields: tuple[str, ...], licence: str) -> None:
    assert TABLE.licence(Package(*fields)) == licence


def test_a_licence_that_was_read_in_a_package_never_hides_what_its_next_version_names() -> None:
    assert TABLE.licence(Package("License: see LICENSE", name="Stated")) == "ISC"
    assert TABLE.licence(Package("License: GPL-3.0-only", name="Stated")) == "GPL-3.0-only"


@pytest.mark.parametrize(
    ("licence", "allowed"),
    [
        ("MIT", True),
        ("GPL-3.0-only OR MIT", True),
        ("MIT AND Apache-2.0", True),
        ("GPL-3.0-only AND MIT OR Apache-2.0", True),
        ("GPL-3.0-only", False),
        ("MIT AND GPL-3.0-only", False),
        ("(MIT OR GPL-3.0-only)", False),
        ("GPL-3.0-only AND (ISC OR MIT OR Zlib)", False),
    ],
)
def test_one_choice_of_every_part_must_be_allowed(licence: str, allowed: bool) -> None:
    assert TABLE.allows(licence) is allowed


def test_unknown_refused_and_needless_licences_are_problems(monkeypatch: pytest.MonkeyPatch) -> None:
    installed = {"a": Package(), "b": Package("License: GPL-3.0-only"), "c": Package("License: MIT")}
    monkeypatch.setattr("tools.supply_chain.licences.distribution", installed.__getitem__)
    lines = ["a==1", "b==1", "c==1", 'd==1; python_version < "3"']
    found = list(TABLE.problems([Pin(Requirement(line), (), line) for line in lines]))
    assert found == [
        "a: names no licence of SPDX; read it in the package and add it to licences.yaml",
        "b: GPL-3.0-only is not allowed (allowed: Apache-2.0, MIT)",
        "licences.yaml: stated: is not pinned any more; remove it",
    ]


def test_a_package_that_is_not_installed_is_a_problem_and_no_traceback() -> None:
    [found] = Table(frozenset(), {}, frozenset()).problems([Pin(Requirement("no-such-package==1"), (), "")])
    assert found.startswith("no-such-package: not installed")
