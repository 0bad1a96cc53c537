"""The specification for Iguazio's installer: data, page and refusals. ``handoff/`` has a reviewed stack."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import Result
from typer.testing import CliRunner

from components.contract.systems.handoff import specification
from components.contract.systems.platform_cluster import PlatformCluster
from infra.config import CONFIG_KEY, StackConfig
from policies.rules.nodes.hn_01_metadata_is_guarded import HOPS_OF_THE_INSTALLER
from support.stack_files import VALID
from workbench import stacks
from workbench.cli.app import app
from workbench.cli.commands import COMMANDS
from workbench.cli.existing import app as existing_commands
from workbench.system.paths import PROJECT_ROOT

FOLDER = Path(__file__).parent / "handoff"
STACK = "iguazio"


@pytest.fixture(autouse=True)
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the reviewed stack."""
    monkeypatch.setenv(stacks.FOLDER_VARIABLE, str(tmp_path))
    (tmp_path / f"Pulumi.{STACK}.yaml").write_bytes((FOLDER / f"Pulumi.{STACK}.yaml").read_bytes())
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["handoff", *arguments])


def choices() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((FOLDER / f"Pulumi.{STACK}.yaml").read_text())["config"][CONFIG_KEY]
    return found


def data(given: dict[str, Any]) -> dict[str, Any]:
    config = StackConfig.model_validate(given)
    cluster = PlatformCluster(
        groups=config.groups,
        spot_taint=config.spot_taint,
        pod_resources=config.pod_resources,
        places_by_itself=False,
        environment=config.environment,
        profile=config.profile,
    )
    return specification(STACK, cluster, config.cluster)  # type: ignore[arg-type] # it is of kind existing


def test_page_and_data_are_the_reviewed_ones(tmp_path: Path) -> None:
    result = run(STACK, "--output", str(tmp_path / "out"), "--json")
    assert result.exit_code == 0, result.output
    for suffix in ("md", "yaml"):
        name = f"{STACK}-handoff.{suffix}"
        assert (tmp_path / "out" / name).read_text() == (FOLDER / name).read_text()
    assert json.loads(result.stdout) == yaml.safe_load((FOLDER / f"{STACK}-handoff.yaml").read_text())


def _more(given: dict[str, Any]) -> None:
    given["pools"]["work"]["size"]["max"] = 9


def _other_machines(given: dict[str, Any]) -> None:
    given["pools"]["work"]["instanceTypes"] = ["m6i.8xlarge"]


def _spot(given: dict[str, Any]) -> None:
    given["pools"]["gpu"]["lifecycle"] = "spot"


def _label(given: dict[str, Any]) -> None:
    given["pools"]["work"]["labels"] = {"team": "vision"}


def _selector(given: dict[str, Any]) -> None:
    given["cluster"]["nodes"]["work"]["selector"] = {"example.com/group": "jobs"}


@pytest.mark.parametrize(
    ("edit", "paths"),
    [
        (_more, {"groups.1.nodes.max", "after.0.prints.2", "after.4.prints.1"}),
        (_other_machines, {"groups.1.instanceTypes.0", "groups.1.instanceTypes.1"}),
        # No service with a GPU runs on spot nodes.
        (_spot, {"groups.3.lifecycle", "groups.3.labels.app.iguazio.com/lifecycle", "services.jupyter-with-gpu"}),
        (_label, {"groups.1.labels.team"}),
        (_selector, {"groups.1.labelsBeforeUp.example.com/group", "after.0.prints.2"}),
    ],
)
def test_a_change_of_a_pool_changes_what_follows_from_it_and_nothing_else(
    edit: Callable[[dict[str, Any]], None], paths: set[str]
) -> None:
    given = choices()
    edit(given)
    before, after = (dict(_flat("", data(each))) for each in (choices(), given))
    changed = {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
    assert {".".join(key.split(".")[:2]) if key.startswith("services.") else key for key in changed} == paths


def test_a_pool_for_notebooks_takes_the_notebooks() -> None:
    given = choices()
    given["pools"]["work"]["role"] = "jupyter"
    found = data(given)
    entries = found["services"]["jupyter"]["advanced"]["node_selector"]["entries"]
    assert {"key": "igz-clusters.io/role", "value": "jupyter"} in entries
    assert any(gap.startswith("No pool of role workload is on-demand, so services") for gap in found["gaps"])


def test_busy_nodes_of_elastic_groups_over_several_zones_are_not_balanced_away() -> None:
    given = choices()
    given["pools"]["work"]["zonal"] = True
    protected = {group["pool"] for group in data(given)["groups"] if "AZRebalance" in str(group["protections"])}
    assert protected == {"spot", "gpu", "data"}


def test_a_changed_pool_is_on_the_page(checkout: Path) -> None:
    file = checkout / f"Pulumi.{STACK}.yaml"
    file.write_text(file.read_text().replace("size: { min: 1, max: 8 }", "size: { min: 2, max: 9 }"))
    page = run(STACK).stdout
    assert "| `work` | jobs, functions and application services | 2 to 9, elastic |" in page


def _flat(path: str, value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, dict | list):
        rows = value.items() if isinstance(value, dict) else enumerate(value)
        return [row for key, inner in rows for row in _flat(f"{path}.{key}".lstrip("."), inner)] or [(path, value)]
    return [(path, value)]


def test_on_azure_and_on_own_machines_no_identity_is_made_up() -> None:
    given = choices()
    types = {"initial": "Standard_D16s_v5", "work": "Standard_D16s_v5", "spot": "Standard_D16s_v5"}
    for name, type_name in types.items():
        given["pools"][name]["instanceTypes"] = [type_name]
    for name in ("gpu", "data"):
        del given["pools"][name], given["cluster"]["nodes"][name]
    on_azure = data(given)
    (identity,) = on_azure["identities"]
    assert on_azure["clouds"] == ["azure"]
    assert identity["choose"] == "not known: Iguazio's public documentation names no identity for Azure"
    assert any("kubernetes.azure.com/scalesetpriority=spot:NoSchedule" in gap for gap in on_azure["gaps"])
    for pool in given["pools"].values():
        pool.pop("instanceTypes", None)
        pool["machine"] = {"vcpus": 16, "memoryGib": 64}
    own = data(given)
    assert own["clouds"] == []
    assert own["identities"][0]["choose"].endswith("for machines of your own")
    assert own["groups"][0]["machine"] == {"vcpus": 16, "memoryMib": 65536, "architecture": "amd64"}


def test_each_command_to_run_after_the_installation_exists() -> None:
    subcommands = {"existing": {each.name or each.callback.__name__ for each in existing_commands.registered_commands}}
    for check in data(choices())["after"]:
        program, command, *rest = check["run"].split()
        assert (program, command in COMMANDS) == ("igz-clusters", True), check
        assert command not in subcommands or rest[0] in subcommands[command], check
        assert check["prints"]
    assert CliRunner().invoke(app, ["check", STACK]).stdout.splitlines()[-2].startswith(f"{STACK}: no violations")


def test_the_role_of_the_installer_has_the_hops_that_the_rule_allows() -> None:
    (role,) = (each for each in data(choices())["identities"] if "metadataHopLimit" in each)
    assert role["metadataHopLimit"] == HOPS_OF_THE_INSTALLER == 2


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ("", "it has the profile mlrun-ce, which has no installer of servers"),
        ("    profile: iguazio\n    servers: pulumi\n", "it has servers: pulumi, so `igz-clusters up` makes them"),
    ],
)
def test_a_stack_that_is_not_for_the_installer_is_refused(checkout: Path, more: str, why: str) -> None:
    (checkout / "Pulumi.other.yaml").write_text(VALID + more)
    result = run("other")
    assert result.exit_code == 1
    assert str(result.exception) == (
        f"There is nothing to hand over for stack 'other': {why}.\n"
        "Name a stack with profile: iguazio, servers: provazio and cluster.kind: existing; docs/handoff.md has one."
    )


def test_a_page_with_violations_is_not_to_be_signed(checkout: Path) -> None:
    file = checkout / f"Pulumi.{STACK}.yaml"
    text = file.read_text()
    for name in ("work", "spot", "gpu", "data"):
        text = re.sub(rf"^ {{6}}(  )?{name}:\n(?: {{8}}.*\n)+", "", text, flags=re.MULTILINE)
        text = re.sub(rf"^ {{8}}{name}:\n(?: {{10}}.*\n)+", "", text, flags=re.MULTILINE)
    file.write_text(text)
    result = run(STACK, "--json")
    assert result.exit_code == 1, result.output
    assert "Do not sign it: mandatory rules are violated. See `igz-clusters check iguazio`." in result.stderr
    assert "**Do not sign it: mandatory rules are violated." in run(STACK).stdout
    (judged,) = (row for row in json.loads(result.stdout)["before"] if row["rule"] == "NG-04")
    assert judged["result"] == "violated"


def test_the_documented_example_is_the_reviewed_stack() -> None:
    assert (FOLDER / f"Pulumi.{STACK}.yaml").read_text() in (PROJECT_ROOT / "docs" / "handoff.md").read_text()


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    result = run(STACK, "--output", str(tmp_path / "file"))
    assert result.exit_code == 1
    assert f"--output: cannot write to {tmp_path / 'file'}: File exists." in str(result.exception)
