import json
from pathlib import Path

import pytest
import yaml
from click.testing import Result
from typer.testing import CliRunner

from infra.config import CONFIG_KEY
from support import aks, eks
from support.stack_files import VALID
from workbench import stacks
from workbench.cli.app import app

SHAPED = """\
      work: # jobs
        role: workload
        size: { min: 0, max: 3 } # grows
        shape: { vcpus: 8, memoryGib: 32, generation: 6 }
"""
TYPES = [f"{family}.2xlarge" for family in ("m8a", "m8i", "m7i", "m7a", "m6a", "m6i")]


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a stack whose pool `work` has a shape and no list into a folder."""
    monkeypatch.setenv(stacks.FOLDER_VARIABLE, str(tmp_path))
    monkeypatch.setenv("COLUMNS", "200")
    (tmp_path / "Pulumi.here.yaml").write_text(VALID + SHAPED)
    return tmp_path / "Pulumi.here.yaml"


def command(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["machines", *arguments])


def listed(file: Path, pool: str = "work") -> list[str]:
    return list(yaml.safe_load(file.read_text())["config"][CONFIG_KEY]["pools"][pool]["instanceTypes"])


def test_a_pool_without_a_list_is_shown_with_the_types_that_its_shape_selects(file: Path) -> None:
    before = file.read_text()
    result = command("here")
    assert result.exit_code == 0
    assert [line.split()[1] for line in result.stdout.splitlines() if line.startswith("+")] == TYPES
    assert "+  m6i.2xlarge       8          32                   0.3840" in result.stdout
    assert "work: `igz-clusters machines here --write` writes the selected types" in result.stderr
    assert file.read_text() == before


def test_write_freezes_the_list_and_leaves_the_rest_of_the_file(file: Path) -> None:
    before = file.read_text()
    assert command("here", "work", "--write").exit_code == 0
    assert listed(file) == TYPES
    assert [line for line in file.read_text().splitlines() if "instanceTypes: [m8a" not in line] == before.splitlines()
    assert stacks.find("here").config.pools["work"].instance_types == tuple(TYPES)
    after = file.read_text()
    assert command("here", "--write").exit_code == 0
    assert file.read_text() == after


RESERVED = """\
      held:
        role: workload
        lifecycle: reserved
        size: { min: 0, max: 3 }
        zone: a
        reservation: { id: cr-0a91582543292e10a }
        shape: { vcpus: 8, memoryGib: 32, generation: 6 }
"""


def test_a_reserved_pool_keeps_the_one_type_of_its_reservation(file: Path) -> None:
    document = eks.document()
    document["pools"] |= yaml.safe_load(RESERVED)
    file.write_text(yaml.safe_dump({"config": {CONFIG_KEY: document}}))
    assert command("here", "held", "--write").exit_code == 0
    assert len(listed(file, "held")) == 1
    document["pools"]["held"]["instanceTypes"] = ["m6i.2xlarge"]
    file.write_text(yaml.safe_dump({"config": {CONFIG_KEY: document}}))
    assert command("here", "held", "--check").exit_code == 0


def test_check_fails_on_another_list_and_passes_on_the_selected_one(file: Path) -> None:
    assert command("here", "--check").exit_code == 1
    command("here", "--write")
    result = command("here", "--check")
    assert (result.exit_code, result.stderr) == (0, "")
    file.write_text(file.read_text().replace("[m8a.2xlarge, ", "[m5.2xlarge, ").replace(", generation: 6", ""))
    result = command("here", "--check")
    assert result.exit_code == 1
    assert "+  m8a.2xlarge" in result.stdout
    assert stacks.find("here")  # a list that differs is valid all the same


def test_types_that_the_file_lists_beside_the_selected_ones_are_marked(file: Path) -> None:
    file.write_text(
        VALID + SHAPED.replace(", generation: 6", "") + "        instanceTypes: [t3.2xlarge, m6i.2xlarge]\n"
    )
    result = command("here")
    assert "-  t3.2xlarge" in result.stdout


def test_json_has_the_same_lists_and_nothing_else_on_standard_output() -> None:
    found = json.loads(command("here", "--json").stdout)
    assert found["stack"] == "here"
    (pool,) = found["pools"]
    assert (pool["pool"], pool["listed"], pool["isCurrent"]) == ("work", [], False)
    assert [each["name"] for each in pool["selected"]] == TYPES
    assert pool["selected"][-1] == {
        "name": "m6i.2xlarge",
        "vcpus": 8,
        "memoryMib": 32768,
        "architecture": "amd64",
        "gpus": 0,
        "gpuModel": "",
        "localNvmeGib": 0,
        "variants": [],
        "usdPerHour": 0.384,
    }


@pytest.mark.parametrize(
    ("kind", "size", "count"),
    [(eks, {"min": 0, "max": 3}, 17), (aks, {"min": 0, "max": 3}, 3), (aks, {"min": 2, "max": 2}, 1)],
)
def test_as_many_types_are_selected_as_a_pool_of_the_cloud_may_have(
    tmp_path: Path, kind: object, size: dict[str, int], count: int
) -> None:
    document = kind.document()  # type: ignore[attr-defined]
    document["pools"] = {
        "initial": document["pools"]["initial"],
        "work": {
            "role": "workload",
            "size": size,
            "shape": {"vcpus": 8, "memoryGib": 32, "variants": ["burstable", "flex", "network", "storage"]},
        },
    }
    (tmp_path / "Pulumi.cloud.yaml").write_text(yaml.safe_dump({"config": {CONFIG_KEY: document}}))
    (pool,) = json.loads(command("cloud", "--json").stdout)["pools"]
    assert len(pool["selected"]) == count


@pytest.mark.parametrize(
    ("replaced", "by", "arguments", "message"),
    [
        ("", "", ("here", "nowhere"), "here has no pool 'nowhere'."),
        ("", "", ("here", "initial"), "Pool initial of here has no shape."),
        ("", "", ("gone",), "Stack 'gone' not found"),
        ("", "", ("here", "--write", "--check"), "--write and --check cannot be combined."),
        (SHAPED, "", ("here",), "No pool of here has a shape."),
        ("vcpus: 8", "vcpus: 7", ("here",), "pools.work.shape: no machine type of AWS has this shape; change vcpus"),
        ("generation: 6", "generation: six", ("here",), "pools.work.shape.generation: must be a whole number"),
        ("max: 3", "mx: 3", ("here",), "would be invalid:\npools.work.size.max: is required"),
        ("schemaVersion: 1", "schemaVersion: [", ("here",), "Pulumi.here.yaml"),
    ],
)  # fmt: skip
def test_mistakes_are_answered_without_a_traceback_and_without_a_change(
    file: Path, replaced: str, by: str, arguments: tuple[str, ...], message: str
) -> None:
    file.write_text(before := file.read_text().replace(replaced, by, 1) if replaced else file.read_text())
    result = command(*arguments)
    assert result.exit_code == 1
    assert message in f"{result.exception or ''}{result.output}{getattr(result.exception, 'message', '')}"
    assert file.read_text() == before


def test_a_list_inside_an_alias_is_refused_and_left(file: Path) -> None:
    aliased = (
        SHAPED.replace("work: # jobs", "work: &work").rstrip()
        + "\n        instanceTypes: [m6i.2xlarge]\n      more: *work\n"
    )
    file.write_text(before := VALID + aliased)
    result = command("here", "more", "--write")
    assert result.exit_code == 1
    assert file.read_text() == before


def test_the_types_of_a_shape_from_the_base_are_written_into_the_stack_file(file: Path) -> None:
    lines = [line[6:] for line in SHAPED.splitlines()]
    base = "schemaVersion: 1\nlayers:\n  - settings:\n      pools:\n" + "".join(f"        {line}\n" for line in lines)
    (file.parent / "Base.acme.yaml").write_text(base)
    file.write_text(VALID.replace("environment: dev", "environment: dev\n    base: acme"))
    result = command("here", "--write")
    assert (result.exit_code, listed(file)) == (0, TYPES)
    assert (file.parent / "Base.acme.yaml").read_text() == base
    assert command("here", "--check").exit_code == 0
