"""Changes of a living EKS stack that end nodes or the cluster: what is named before, and what is there afterwards."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from policies.waivers import Approval
from support.aws_emulator import Account, writes

pytestmark = [pytest.mark.control_plane, pytest.mark.full]

OBJECTS = (
    "namespaces,priorityclasses,storageclasses,deployments,serviceaccounts,clusterroles,clusterrolebindings,"
    "configmaps,validatingadmissionpolicies,validatingadmissionpolicybindings,resourcequotas,limitranges"
)
UP = ("up", "dev", "--hermetic", "--yes")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Account]:
    """A stack of dev with a required guard, without its zonal pools."""
    with Account.opened(tmp_path_factory.mktemp("losses"), "dev", is_quick=True) as account:
        account.edit("dev", pools__workload__size={"min": 2, "max": 30}, pools__jupyter=None, pools__gpu=None)
        account.plain("dev", "up", "--yes", "--skip-preview")
        account.edit("dev", policyGuard="required")
        yield account


def refusal(made: Account, *options: str) -> str:
    last = made.last
    run = made.run(*UP, *options, check=False)
    assert run.returncode == 1, run.stdout + run.stderr
    assert [call.operation for call in writes(made.aws.calls(last))] == []
    return run.stderr


def approve(made: Account, *operations: str) -> None:
    """Approve everything of the stack for some operations."""
    people = {"reason": "agreed", "owner": "ml-platform", "ticket": "OPS-1", "expires": str(Approval.last_day())}
    rows = [{"stack": "dev", "resource": "*", "operation": operation, **people} for operation in operations]
    made.overrides.parent.mkdir(exist_ok=True)
    made.overrides.write_text(json.dumps({"approvals": rows}))


def test_elastic_groups_with_nodes_go_only_with_an_approval_and_a_successor_gets_as_many(made: Account) -> None:
    made.move("dev-workload", 20)
    made.move("dev-spot", 12)
    made.edit("dev", pools__workload__instanceTypes=["m6i.4xlarge"], pools__spot=None)
    said = refusal(made)
    assert "replace live nodes dev-workload (aws:eks/nodeGroup:NodeGroup): its 20 nodes with the pods on them" in said
    assert "delete live nodes dev-spot (aws:eks/nodeGroup:NodeGroup): its 12 nodes with the pods on them" in said
    approve(made, "delete", "replace")
    made.run(*UP)
    group = made.group("dev-workload")
    assert group["instanceTypes"] == ["m6i.4xlarge"]
    assert group["scalingConfig"] == {"minSize": 2, "maxSize": 30, "desiredSize": 20}
    made.overrides.unlink()


def uids(made: Account) -> dict[str, str]:
    """Return the uid of each object in the API server that the state has, by the engine's name of it."""
    items = json.loads(made.kubectl("get", OBJECTS, "-A", "-o", "json"))["items"]
    live = {item["metadata"]["uid"] for item in items}
    recorded: dict[str, Any] = {
        each["urn"]: each["outputs"]["metadata"]["uid"]
        for each in made.state("dev")["resources"]
        if each["type"].startswith("kubernetes:") and not each["type"].endswith("Patch")
    }
    return {urn: uid for urn, uid in recorded.items() if uid in live}


def test_a_replaced_cluster_is_emptied_first_and_gets_all_its_objects_again(made: Account) -> None:
    before, identities = uids(made), made.aws.inventory()["aws:eks/podIdentityAssociation:PodIdentityAssociation"]
    assert before
    assert identities
    made.kubectl("create", "service", "loadbalancer", "door", "--tcp=80:80", "--namespace=default")
    made.kubectl("apply", "-f", "-", stdin=json.dumps(CLAIM))
    made.edit("dev", cluster__serviceCidr="10.99.0.0/16")
    assert "replace cluster dev-cluster" in refusal(made)
    approve(made, "delete", "replace")
    assert "persistentvolumeclaim default/data (1Gi, volume none yet)" in refusal(made)
    last = made.last
    said = made.run(*UP, "--delete-claims").stderr
    assert "service default/door" in said
    assert "door" not in made.kubectl("get", "services", "--namespace=default")
    assert "data" not in made.kubectl("get", "persistentvolumeclaims", "--namespace=default")
    assert [call.operation for call in made.aws.calls(last) if call.operation == "eks:CreateCluster"]
    after = uids(made)
    assert after.keys() == before.keys()
    assert not set(after.values()) & set(before.values())
    assert len(made.aws.inventory()["aws:eks/podIdentityAssociation:PodIdentityAssociation"]) == len(identities)
    last = made.last
    made.run(*UP)
    assert [call.operation for call in writes(made.aws.calls(last))] == []
    assert uids(made) == after


CLAIM = {
    "apiVersion": "v1",
    "kind": "PersistentVolumeClaim",
    "metadata": {"name": "data", "namespace": "default"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}
