"""What the engine shows of changes that Azure refuses or does not make."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.edit_matrix import PAGES, Matrix, deployed
from workbench.system.paths import PROJECT_ROOT

POOL = "azure-native:containerservice:AgentPool"
CLUSTER = "azure-native:containerservice:ManagedCluster"

pytestmark = [pytest.mark.engine, pytest.mark.full, pytest.mark.xdist_group("matrix of aks")]


@pytest.fixture
def matrix() -> Iterator[Matrix]:
    with deployed(PAGES["aks"].stacks[0]) as stack:
        yield stack


def pulumi(matrix: Matrix, *arguments: str) -> str:
    result = subprocess.run(
        [matrix.session.pulumi, "stack", *arguments],
        cwd=PROJECT_ROOT,
        env=matrix.session.whole_environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    return result.stdout


def remember(matrix: Matrix, folder: Path, type_: str, **inputs: Any) -> str:
    """Let the state of the first resource of a type have other inputs; return its URN."""
    state = json.loads(pulumi(matrix, "export"))
    found = next(each for each in state["deployment"]["resources"] if each["type"] == type_)
    found["inputs"].update(inputs)
    file = folder / "state"
    file.write_text(json.dumps(state))
    pulumi(matrix, "import", "--file", str(file))
    return str(found["urn"])


def test_a_role_on_a_vault_keeps_its_place_under_the_name_of_earlier_releases(matrix: Matrix, tmp_path: Path) -> None:
    exported = pulumi(matrix, "export")
    assert "identities-secrets-key-research" in exported
    file = tmp_path / "state"
    file.write_text(exported.replace("identities-secrets-key-research", "identities-secrets-key"))
    pulumi(matrix, "import", "--file", str(file))
    for edit, expected in (("nothing", {}), ("cluster.secretsKeyId, of another vault", {"other": "create"})):
        result = matrix.preview(edit)
        assert result.returncode == 0, result.stdout + result.stderr
        steps = [step for step in json.loads(result.stdout)["steps"] if "secrets-key" in step["urn"]]
        changes = {
            step["urn"].rpartition("-")[2]: step["op"] for step in steps if step["op"] not in ("same", "refresh")
        }
        assert changes == expected


def test_a_change_that_azure_refuses_ends_the_preview(matrix: Matrix, tmp_path: Path) -> None:
    remember(matrix, tmp_path, POOL, vnetSubnetID="/subscriptions/s/resourceGroups/other")
    result = matrix.preview("nothing")
    assert result.returncode
    assert f"Azure does not change this {POOL} in place" in result.stdout + result.stderr
    assert (
        "vnetSubnetID: fixed when it is made (https://github.com/Azure/AKS/issues/695" in result.stdout + result.stderr
    )


def test_an_input_that_azure_keeps_is_no_change_but_a_warning(matrix: Matrix, tmp_path: Path) -> None:
    state = json.loads(pulumi(matrix, "export"))
    cluster = next(each for each in state["deployment"]["resources"] if each["type"] == CLUSTER)
    profiles = {**cluster["inputs"].get("addonProfiles", {}), "taken": {"enabled": True}}
    urn = remember(matrix, tmp_path, CLUSTER, addonProfiles=profiles)
    result = matrix.preview("nothing")
    assert result.returncode == 0, result.stdout + result.stderr
    shown = json.loads(result.stdout)
    assert {step["op"] for step in shown["steps"] if step["urn"] == urn} <= {"same", "refresh"}
    assert any(
        "addonProfiles.taken is no longer set, but Azure keeps" in each["message"] for each in shown["diagnostics"]
    )
