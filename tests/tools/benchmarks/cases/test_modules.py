"""A fresh interpreter runs what the engine runs; what it imported is looked at from outside."""

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from components.contract.existing.cluster_inventory import INVENTORY_VARIABLE, ClusterInventory
from support.offline import ALL_COMMANDS, imported_by, observe_program
from tools.benchmarks.cases.modules import SDKS, foreign
from workbench import stacks
from workbench.system.paths import PROJECT_ROOT

EKS = {"autoscaling", "cloudwatch", "ec2", "eks", "iam", "kms", "vpc"}
AKS = {
    "authorization",
    "containerservice",
    "managedidentity",
    "monitor",
    "network",
    "operationalinsights",
    "resources",
}
PARTS = {
    "dev": EKS,
    "prod": EKS | {"backup"},
    "aks-dev": AKS,
    "aks-prod": AKS | {"dataprotection", "kubernetesconfiguration", "storage"},
}
"""Parts of its cloud's SDK that a stack uses. Those of production ask for backups, and for no other feature."""


def parts(imported: Iterable[str]) -> set[str]:
    """Return the parts of the clouds' SDKs that were executed: one that is only announced has no modules below it."""
    return {found[1] for name in imported if (found := re.match(r"pulumi_(?:aws|azure_native)\.(\w+)\.", name))}


@pytest.mark.parametrize("stack", sorted(stacks.stack_files()))
def test_a_stacks_program_imports_no_module_of_an_unused_cloud_or_feature(stack: str, tmp_path: Path) -> None:
    cluster = stacks.find(stack).config.cluster
    kind = cluster.kind
    (tmp_path / "sighting").write_text(ClusterInventory(getattr(cluster, "cluster_id", "")).to_json())
    own = {INVENTORY_VARIABLE: str(tmp_path / "sighting")}
    imported = observe_program(PROJECT_ROOT / "infra", stack, **own)["modules"]
    assert SDKS[kind] <= set(imported), "the program did not run"
    assert foreign(imported, kind) == set()
    assert parts(imported) == PARTS.get(stack, set())


def test_a_program_that_imports_another_clouds_sdk_is_noticed(tmp_path: Path) -> None:
    for package in ("pulumi_aws", "pulumi_azure_native"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").touch()
    (tmp_path / "__main__.py").write_text("import pulumi_aws, pulumi_azure_native, pulumi_kubernetes\n")
    assert foreign(observe_program(tmp_path, "local")["modules"], "local") == {"pulumi_aws", "pulumi_azure_native"}


@pytest.mark.parametrize("module", ["infra.config", "workbench.stacks", "components.contract.groups"])
def test_configuration_is_judged_without_pulumi(module: str) -> None:
    imported = imported_by(f"import {module}")
    assert "pydantic" in imported
    assert {name for name in imported if name.partition("_")[0].partition(".")[0] in {"pulumi", "grpc"}} == set()


def test_the_command_line_imports_no_pulumi() -> None:
    imported = imported_by(ALL_COMMANDS)
    assert {name for name in imported if name.startswith("pulumi")} == set()
