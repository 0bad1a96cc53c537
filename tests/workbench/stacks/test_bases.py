"""Stack files that refine a base: what applies, where each value comes from, and what is wrong in which file."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from infra.config import CONFIG_KEY
from support import eks
from support.stack_cases import entries_of
from support.stack_files import VALID
from workbench import stacks
from workbench.stacks import StackFileError
from workbench.system.paths import PROJECT_ROOT

CASES = {
    name: case
    for file in sorted(Path(__file__).with_name("base_files").glob("*.yaml"))
    for name, case in entries_of(file).items()
}
BASE = """\
schemaVersion: 1
layers:
  - settings:
      policies: { requiredTags: [team] }
      pools:
        initial: { role: initial, size: { min: 2, max: 2 }, instanceTypes: [m6i.xlarge] }
        spare: { role: workload, size: { min: 0, max: 4 }, instanceTypes: [m6i.xlarge] }
  - environments: [prod]
    settings: { policies: { admission: deny } }
  - environments: [dev]
    kinds: [local]
    settings: { policies: { admission: warn } }
"""
REFINING = """\
config:
  aws:region: eu-west-1
  igz-clusters:stack:
    schemaVersion: 1
    base: acme
    environment: dev
    cluster: { kind: local }
    pools:
      initial: { instanceTypes: [m6i.2xlarge] }
      spare: null
encryptionsalt: v1:abc
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(stacks.FOLDER_VARIABLE, str(tmp_path))
    (tmp_path / "Base.acme.yaml").write_text(BASE)
    (tmp_path / "Pulumi.one.yaml").write_text(REFINING)
    return tmp_path


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_each_problem_is_named_in_the_file_that_has_it(case: dict[str, Any], folder: Path) -> None:
    (folder / "Base.acme.yaml").write_text(case.get("base", BASE))
    (folder / "Pulumi.one.yaml").write_text(
        case.get("stack", VALID.replace("    environment", "    base: acme\n    environment"))
    )
    with pytest.raises(StackFileError) as caught:
        stacks.find("one")
    assert caught.value.lines == case["problems"]
    assert [row["file"] for row in caught.value.rows] == [line.partition(":")[0] for line in caught.value.lines]


def test_the_document_has_the_settings_of_the_base_and_all_else_of_the_stack_file() -> None:
    found = stacks.find("one")
    assert found.document == {
        "config": {
            "aws:region": "eu-west-1",
            CONFIG_KEY: {
                "schemaVersion": 1,
                "environment": "dev",
                "cluster": {"kind": "local"},
                "policies": {"requiredTags": ["team"], "admission": "warn"},
                "pools": {
                    "initial": {"role": "initial", "size": {"min": 2, "max": 2}, "instanceTypes": ["m6i.2xlarge"]}
                },
            },
        },
        "encryptionsalt": "v1:abc",
    }
    assert found.config.policies.admission == "warn"
    assert found.base == found.file.with_name("Base.acme.yaml")


def test_every_value_says_which_line_sets_it() -> None:
    said = {".".join(map(str, path)): str(origin) for path, origin in stacks.find("one").origins.items()}
    assert said["policies.requiredTags"] == "Base.acme.yaml:4"
    assert said["policies.admission"] == "Base.acme.yaml:12 (local, dev)"
    assert said["pools.initial.size.max"] == "Base.acme.yaml:6"
    assert said["pools.initial.instanceTypes"] == "Pulumi.one.yaml:9"
    assert said["environment"] == "Pulumi.one.yaml:6"
    assert "base" not in said


def test_a_file_without_a_base_is_read_as_it_is(folder: Path) -> None:
    (folder / "Pulumi.two.yaml").write_text(VALID)
    found = stacks.find("two")
    assert (found.document, found.base) == (yaml.safe_load(VALID), None)
    assert {origin.file for origin in found.origins.values()} == {"Pulumi.two.yaml"}


def test_both_files_are_named_above_their_problems(folder: Path) -> None:
    (folder / "Base.acme.yaml").write_text("schemaVersion: 1\nlayer: []\n")
    (folder / "Pulumi.one.yaml").write_text(REFINING + "more: 1\n")
    with pytest.raises(StackFileError) as caught:
        stacks.find("one")
    assert str(caught.value).splitlines()[0] == "3 problems in Pulumi.one.yaml and Base.acme.yaml"


def test_an_invalid_stack_file_can_be_read_with_its_base(folder: Path) -> None:
    (folder / "Pulumi.one.yaml").write_text(REFINING.replace("environment: dev", "environment: prod\n    wrong: 1"))
    settings = stacks.unvalidated(folder / "Pulumi.one.yaml")["config"][CONFIG_KEY]
    assert (settings["policies"]["admission"], settings["wrong"]) == ("deny", 1)
    assert stacks.unvalidated(folder / "Base.acme.yaml") == yaml.safe_load(BASE)


def test_the_base_of_a_file_is_known_even_if_it_does_not_exist(folder: Path) -> None:
    (folder / "Base.acme.yaml").unlink()
    assert stacks.base_of(folder / "Pulumi.one.yaml") == folder / "Base.acme.yaml"
    (folder / "Pulumi.two.yaml").write_text(VALID)
    assert stacks.base_of(folder / "Pulumi.two.yaml") is None
    assert stacks.base_of(folder / "Pulumi.none.yaml") is None


@pytest.mark.parametrize(("region", "is_right"), [("eu-west-1", True), ("us-east-1", False)])
def test_the_region_of_a_provider_is_compared_with_that_of_the_base(
    region: str, folder: Path, *, is_right: bool
) -> None:
    own = json.dumps({**eks.document({"cluster.region": None}), "base": "acme"})
    (folder / "Base.acme.yaml").write_text("schemaVersion: 1\nlayers: [{settings: {cluster: {region: eu-west-1}}}]\n")
    (folder / "Pulumi.one.yaml").write_text(f"config:\n  aws:region: {region}\n  {CONFIG_KEY}: {own}\n")
    if is_right:
        assert stacks.find("one").base
        return
    with pytest.raises(StackFileError) as caught:
        stacks.find("one")
    (line,) = caught.value.lines
    assert line.startswith("Pulumi.one.yaml:2: config['aws:region']: is not cluster.region; remove it")


@pytest.mark.parametrize("name", ["acme-azure", "acme-dev", "acme-prod"])
def test_the_stacks_of_the_example_are_valid(name: str) -> None:
    stack = stacks.read(PROJECT_ROOT / "examples/organisation" / f"Pulumi.{name}.yaml")
    assert stack.base
    assert stack.config.cluster.name == name
