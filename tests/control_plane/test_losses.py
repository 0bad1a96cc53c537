"""Changes of a living stack that end nodes or the cluster: what is named before, and what is there afterwards."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pytest

from emulators.core.client import Call
from policies.waivers import Approval
from support import aws_emulator, azure_emulator
from support.aws_emulator import Account
from support.azure_emulator import Subscription
from support.cloud_account import CloudAccount

pytestmark = [pytest.mark.control_plane, pytest.mark.full]

OBJECTS = (
    "namespaces,priorityclasses,storageclasses,deployments,serviceaccounts,clusterroles,clusterrolebindings,"
    "configmaps,validatingadmissionpolicies,validatingadmissionpolicybindings,resourcequotas,limitranges"
)


def eks_pool(made: CloudAccount) -> tuple[Any, Mapping[str, int]]:
    assert isinstance(made, Account)
    group = made.group("dev-workload")
    return group["instanceTypes"], group["scalingConfig"]


def aks_pool(made: CloudAccount) -> tuple[Any, Mapping[str, int]]:
    assert isinstance(made, Subscription)
    (pool,) = made.agent_pools("workload")
    said = pool["properties"]
    sizes = {"minSize": said["minCount"], "maxSize": said["maxCount"], "desiredSize": said["count"]}
    return [said["vmSize"]], sizes


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A stack of dev in one cloud, and the words of that cloud.

    Parameters
    ----------
    pools
        Names in the cloud by pool.
    part
        What stands between stack and pool in a resource's name.
    type
        Of a resource of a pool.
    larger
        Another machine type of the pool ``workload``.
    pool
        Returns machine types and sizes of the pool ``workload``, as the cloud describes them.
    range_
        A key whose change replaces the cluster.
    made
        Operation that creates a cluster.
    rights
        Type of what gives users rights in the cluster or its pods rights in the cloud, and goes with the cluster.
    """

    stack: str
    account: type[CloudAccount]
    pools: Mapping[str, str]
    part: str
    type: str
    larger: str
    pool: Callable[[CloudAccount], tuple[Any, Mapping[str, int]]]
    writes: Callable[[Sequence[Call]], list[Call]]
    range_: str
    made: str
    rights: str


SCENES: Final = (
    Scene(
        stack="dev",
        account=Account,
        pools={"workload": "dev-workload", "spot": "dev-spot"},
        part="",
        type="aws:eks/nodeGroup:NodeGroup",
        larger="m6i.4xlarge",
        pool=eks_pool,
        writes=aws_emulator.writes,
        range_="serviceCidr",
        made="eks:CreateCluster",
        rights="aws:eks/podIdentityAssociation:PodIdentityAssociation",
    ),
    Scene(
        stack="aks-dev",
        account=Subscription,
        pools={"workload": "workload", "spot": "spot"},
        part="pools-",
        type="azure-native:containerservice:AgentPool",
        larger="Standard_D16s_v5",
        pool=aks_pool,
        writes=azure_emulator.writes,
        range_="podCidr",
        made="Microsoft.ContainerService/managedClusters/write",
        rights="azure-native:authorization:RoleAssignment",
    ),
)


@dataclass(frozen=True)
class Stack:
    """A scene and where it runs."""

    scene: Scene
    account: CloudAccount

    def up(self, *options: str, check: bool = True) -> str:
        """Run `up` and return what it says; without ``check`` it must be refused before it changes anything."""
        last = self.account.last
        run = self.account.run("up", self.scene.stack, "--hermetic", "--yes", *options, check=check)
        if not check:
            assert run.returncode == 1, run.stdout + run.stderr
            assert self.written(last) == []
        return run.stderr

    def written(self, last: int) -> list[str]:
        """Return the operations since a call that asked the cloud to change something."""
        return [call.operation for call in self.scene.writes(self.account.emulator.calls(last))]

    def edit(self, **choices: Any) -> None:
        self.account.edit(self.scene.stack, **choices)

    def approve(self, *operations: str) -> None:
        """Approve everything of the stack for some operations."""
        people = {"reason": "agreed", "owner": "ml-platform", "ticket": "OPS-1", "expires": str(Approval.last_day())}
        rows = [{"stack": self.scene.stack, "resource": "*", "operation": each, **people} for each in operations]
        self.account.overrides.parent.mkdir(exist_ok=True)
        self.account.overrides.write_text(json.dumps({"approvals": rows}))

    def inventory(self) -> dict[str, int]:
        """Return how many of each type are in the cloud."""
        return {type_: len(ids) for type_, ids in self.account.emulator.inventory().items()}

    def uids(self) -> dict[str, str]:
        """Return the uid of each object in the API server that the state has, by the engine's name of it."""
        items = json.loads(self.account.kubectl("get", OBJECTS, "-A", "-o", "json"))["items"]
        live = {item["metadata"]["uid"] for item in items}
        recorded: dict[str, Any] = {
            each["urn"]: each["outputs"]["metadata"]["uid"]
            for each in self.account.state(self.scene.stack)["resources"]
            if each["type"].startswith("kubernetes:") and not each["type"].endswith("Patch")
        }
        return {urn: uid for urn, uid in recorded.items() if uid in live}


# What approves and empties is the same for every cloud.
@pytest.fixture(
    scope="module",
    params=[
        pytest.param(scene, id=scene.stack, marks=pytest.mark.proofs if rank else [])
        for rank, scene in enumerate(SCENES)
    ],
)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A stack of dev with a required guard, without its zonal pools."""
    scene: Scene = request.param
    with scene.account.opened(tmp_path_factory.mktemp("losses"), scene.stack, is_quick=True) as account:
        stack = Stack(scene, account)
        size = {"min": 2, "max": 30}
        stack.edit(pools__workload__size=size, pools__jupyter=None, pools__gpu=None)
        if scene.account is Subscription:
            stack.edit(pools__spot__instanceTypes=["Standard_D8s_v5"])
        account.plain(scene.stack, "up", "--yes", "--skip-preview")
        stack.edit(policyGuard="required")
        yield stack


def test_elastic_groups_with_nodes_go_only_with_an_approval_and_a_successor_gets_as_many(made: Stack) -> None:
    scene, account = made.scene, made.account
    assert isinstance(account, (Account, Subscription))
    for pool, nodes in (("workload", 20), ("spot", 12)):
        account.move(scene.pools[pool], nodes)
    made.edit(pools__workload__instanceTypes=[scene.larger], pools__spot=None)
    said = made.up(check=False)
    workload, spot = (f"{scene.stack}-{scene.part}{pool} ({scene.type}): its" for pool in ("workload", "spot"))
    assert f"replace live nodes {workload} 20 nodes with the pods on them" in said
    assert f"delete live nodes {spot} 12 nodes with the pods on them" in said
    made.approve("delete", "replace")
    made.up()
    assert scene.pool(account) == ([scene.larger], {"minSize": 2, "maxSize": 30, "desiredSize": 20})
    account.overrides.unlink()


def test_a_replaced_cluster_is_emptied_first_and_gets_all_its_objects_again(made: Stack) -> None:
    scene, account = made.scene, made.account
    before, there = made.uids(), made.inventory()
    assert before
    assert there[scene.rights]
    account.kubectl("create", "service", "loadbalancer", "door", "--tcp=80:80", "--namespace=default")
    account.kubectl("apply", "-f", "-", stdin=json.dumps(CLAIM))
    made.edit(**{f"cluster__{scene.range_}": "10.99.0.0/16"})
    assert f"replace cluster {scene.stack}-cluster" in made.up(check=False)
    made.approve("delete", "replace")
    assert "persistentvolumeclaim default/data (1Gi, volume none yet)" in made.up(check=False)
    last = account.last
    assert "service default/door" in made.up("--delete-claims")
    assert "door" not in account.kubectl("get", "services", "--namespace=default")
    assert "data" not in account.kubectl("get", "persistentvolumeclaims", "--namespace=default")
    assert scene.made in made.written(last)
    after = made.uids()
    assert after.keys() == before.keys()
    assert not set(after.values()) & set(before.values())
    assert made.inventory() == there
    last = account.last
    made.up()
    assert made.written(last) == []
    assert made.uids() == after


CLAIM = {
    "apiVersion": "v1",
    "kind": "PersistentVolumeClaim",
    "metadata": {"name": "data", "namespace": "default"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}
