"""A disruption budget that would stop an upgrade, with the real controller behind it and the AWS emulator in front."""

import json
from pathlib import Path
from typing import Any

import pytest

from support.aws_emulator import Account, writes
from support.cloud_account import CORE_NODE
from support.cluster import eventually
from support.lives import SMALL
from support.minors import NEWEST

pytestmark = [pytest.mark.control_plane, pytest.mark.full]

UP = ("up", "dev", "--hermetic", "--yes")
HERE = {"name": "scorer", "namespace": "mlrun"}


def objects(group: str) -> dict[str, Any]:
    """Return a node of a group, a pod there that is ready, and a budget that never lets it go."""
    node = {**CORE_NODE, "metadata": {**CORE_NODE["metadata"], "name": "upgraded"}}
    node["metadata"]["labels"] = {**CORE_NODE["metadata"]["labels"], "eks.amazonaws.com/nodegroup": group}
    container = {"name": "main", "image": "registry.example.com/scorer@sha256:" + "0" * 64}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {**HERE, "labels": {"app": "scorer", "igz-clusters.io/core-service": "true"}},
        "spec": {"nodeName": "upgraded", "containers": [container]},
    }
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": HERE,
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "scorer"}}},
    }
    return {"apiVersion": "v1", "kind": "List", "items": [node, pod, budget]}


def test_an_upgrade_that_a_budget_would_stop_is_refused_until_the_budget_is_gone(tmp_path: Path) -> None:
    with Account.opened(tmp_path, "dev") as made:
        made.edit("dev", policies__admission="warn", **SMALL)
        made.run(*UP)
        name = made.group("dev-workload")["nodegroupName"]
        made.kubectl("apply", "-f", "-", stdin=json.dumps(objects(name)))
        healthy = ("get", "pdb", "scorer", "--namespace=mlrun", "--output=jsonpath={.status.currentHealthy}")
        eventually(lambda: made.kubectl(*healthy) == "1")
        made.edit("dev", cluster__nodeRelease=f"{NEWEST}.1-20261105")
        last = made.last
        refused = made.run(*UP, check=False)
        assert refused.returncode == 1, refused.stdout
        assert "PodDisruptionBudget mlrun/scorer: lets no pod go (minAvailable 1 of 1)" in refused.stderr
        assert f"the upgrade of the node group {name} stops there" in refused.stderr
        assert writes(made.aws.calls(last)) == []
        made.kubectl("delete", "pdb", "scorer", "--namespace=mlrun")
        made.run(*UP)
        assert made.group("dev-workload")["releaseVersion"] == f"{NEWEST}.1-20261105"
