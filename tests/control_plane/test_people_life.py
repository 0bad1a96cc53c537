"""Roles of people in the life of a stack: `up` makes, changes and removes them, and nothing else."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from components.scheduling.people import NODES_POLICY
from infra.config import CONFIG_KEY
from support.cluster import Cluster, changes, new_cluster
from support.edits import edited
from workbench.system.paths import PROJECT_ROOT

pytestmark = [pytest.mark.control_plane, pytest.mark.full]

ALL: dict[str, Any] = {
    "itAdmins": {"groups": ["ops"]},
    "dataScientists": {"jobs": {"groups": ["ml"]}},
    "ci": {"reads": {"groups": ["verify"]}, "applies": {"jobs": {"groups": ["jobs"]}}},
}
OTHERS = {**ALL, "dataScientists": {"jobs": {"groups": ["ml", "research"]}}}


def up(cluster: Cluster, folder: Path, people: dict[str, Any]) -> str:
    """Bring the local stack up with people, and return the engine's summary."""
    document = yaml.safe_load((PROJECT_ROOT / "Pulumi.local.yaml").read_text())
    document["config"][CONFIG_KEY] = edited(document["config"][CONFIG_KEY], {"namespaces.jobs": {}, "people": people})
    (folder / "Pulumi.local.yaml").write_text(yaml.safe_dump(document))
    return changes(cluster.command("up", "local", "--hermetic", IGZ_CLUSTERS_STACKS=str(folder)).stdout)


def made(cluster: Cluster) -> set[tuple[str, str]]:
    """Return the bindings of people and the policy of nodes in the cluster, with their subjects."""
    found = cluster.get("clusterrolebindings,rolebindings", "-A")["items"]
    theirs = {
        (each["metadata"]["name"], subject["name"])
        for each in found
        for subject in each.get("subjects", ())
        if each["metadata"]["name"].startswith("igz-clusters:")
    }
    policies = {each["metadata"]["name"] for each in cluster.get("validatingadmissionpolicies")["items"]}
    return theirs | ({(NODES_POLICY, "")} & {(name, "") for name in policies})


def test_up_makes_changes_and_removes_roles_and_leaves_all_else(tmp_path: Path) -> None:
    folder = tmp_path / "stacks"
    folder.mkdir(mode=0o700)
    with new_cluster(tmp_path / "data", is_quick=True) as cluster:
        up(cluster, folder, {})
        before = made(cluster)
        assert "+ 19 created" in up(cluster, folder, ALL)
        assert {("igz-clusters:jobs", "ml"), ("igz-clusters:verifier", "verify"), (NODES_POLICY, "")} <= made(cluster)
        assert "created" not in up(cluster, folder, ALL)
        summary = up(cluster, folder, OTHERS)
        assert "~ 3 updated" in summary
        assert "deleted" not in summary
        assert ("igz-clusters:jobs", "research") in made(cluster)
        summary = up(cluster, folder, {})
        assert "- 19 deleted" in summary
        assert "created" not in summary
        assert made(cluster) == before
