"""The npm packages of the example in TypeScript are pinned as the Python packages are."""

import json
import re

from workbench.system.paths import PROJECT_ROOT

EXAMPLE = PROJECT_ROOT / "examples" / "typescript"
OWN = {"", "sdks/igz-clusters", "node_modules/@pulumi/igz-clusters"}
"""The example itself, and the SDK that is made from the component package, with the link to it."""


def test_every_package_has_a_hash_and_no_address() -> None:
    packages = json.loads((EXAMPLE / "package-lock.json").read_text())["packages"]
    others = {name: each for name, each in packages.items() if name not in OWN}
    assert len(others) > 100
    assert [name for name, each in others.items() if not each.get("integrity", "").startswith("sha512-")] == []
    assert [name for name, each in others.items() if "resolved" in each] == []


def test_the_example_asks_for_exact_versions_that_are_the_locked_ones() -> None:
    asked = json.loads((EXAMPLE / "package.json").read_text())
    versions = {**asked["dependencies"], **asked["devDependencies"]}
    assert versions.pop("@pulumi/igz-clusters") == "file:sdks/igz-clusters"
    assert {name: each for name, each in versions.items() if not re.fullmatch(r"\d+\.\d+\.\d+", each)} == {}
    packages = json.loads((EXAMPLE / "package-lock.json").read_text())["packages"]
    assert {name: packages[f"node_modules/{name}"]["version"] for name in versions} == versions
