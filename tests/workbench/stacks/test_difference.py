"""What differs between two stacks."""

from pathlib import Path

import pytest

from infra.config.problems import path_text
from support.stack_files import VALID
from workbench import stacks
from workbench.stacks.difference import Value, differences


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(stacks.FOLDER_VARIABLE, str(tmp_path))
    (tmp_path / "Pulumi.one.yaml").write_text(VALID)
    return tmp_path


def compared(folder: Path, text: str) -> dict[str, tuple[Value | None, Value | None]]:
    (folder / "Pulumi.two.yaml").write_text(text)
    found = differences(stacks.find("one"), stacks.find("two"))
    return {path_text(each.path): (each.left, each.right) for each in found}


def test_stacks_that_mean_the_same_do_not_differ(folder: Path) -> None:
    assert compared(folder, VALID + "    profile: mlrun-ce # said, not left out\n") == {}


def test_values_and_the_lines_that_set_them_are_named(folder: Path) -> None:
    assert compared(folder, VALID.replace("{ min: 2, max: 2 }", "\n          min: 3\n          max: 3")) == {
        "pools.initial.size.min": (Value(2, "Pulumi.one.yaml:9"), Value(3, "Pulumi.two.yaml:10")),
        "pools.initial.size.max": (Value(2, "Pulumi.one.yaml:9"), Value(3, "Pulumi.two.yaml:11")),
    }


def test_a_default_that_follows_from_another_key_differs_too(folder: Path) -> None:
    found = compared(folder, VALID.replace("dev", "prod"))
    assert found["environment"] == (Value("dev", "Pulumi.one.yaml:4"), Value("prod", "Pulumi.two.yaml:4"))
    assert found["defaultPodResources.limits.cpu"] == (Value("2", "default"), Value("1", "default"))


def test_a_mapping_that_one_of_them_lacks_is_one_difference_without_its_defaults(folder: Path) -> None:
    pool = {"role": "workload", "size": {"min": 0, "max": 3}, "instanceTypes": ["m6i.xlarge"]}
    row = "      work: { role: workload, size: { min: 0, max: 3 }, instanceTypes: [m6i.xlarge] }\n"
    assert compared(folder, VALID + row) == {"pools.work": (None, Value(pool, "Pulumi.two.yaml:11"))}


def test_a_mapping_beside_null_is_one_difference(folder: Path) -> None:
    text = VALID.replace("instanceTypes", "shape: { vcpus: 8, memoryGib: 32 }\n        instanceTypes")
    found = compared(folder, text)
    shape = {"vcpus": 8, "memoryGib": 32}
    assert found == {"pools.initial.shape": (Value(None, "default"), Value(shape, "Pulumi.two.yaml:10"))}


def test_a_base_with_the_same_settings_makes_no_difference(folder: Path) -> None:
    (folder / "Base.acme.yaml").write_text("schemaVersion: 1\nlayers: [{ settings: { profile: mlrun-ce } }]\n")
    assert compared(folder, VALID.replace("environment: dev", "environment: dev\n    base: acme")) == {}
