"""Every trap of AKS that a naive program falls into: ours avoids it, and the test would notice.

Traps that validation answers have their bad stack files in ``tests/infra/cases``; docs/aks.md lists all, also those
that cannot be checked without an account.
"""

import json
from copy import deepcopy
from typing import Any

import pytest

from support import aks_traps as traps
from support.aks import AGENT_POOL, CLUSTER, KUBERNETES, ROLE_ASSIGNMENT, Props, built
from support.minors import NEWEST
from support.recorder import Recorder
from support.traps import Trap, drop, edit, option

SPOT, WORKLOAD, GPU, DATA = (f"test-pools-{name}" for name in ("spot", "workload", "gpu", "data-1"))
SPOT_KEY = "kubernetes.azure.com/scalesetpriority"


def of_cluster(change: Any) -> Any:
    return edit(CLUSTER, "test-cluster", change)


def of_initial(**changes: Any) -> Any:
    return of_cluster(lambda c: c["agentPoolProfiles"][0].update(changes))


def of_pool(name: str, **changes: Any) -> Any:
    return edit(AGENT_POOL, name, lambda p: p.update(changes))


def tokens_of_the_provider(props: Props) -> None:
    config = json.loads(props["kubeconfig"])
    config["users"][0]["user"] = {"token": "secret"}
    props["kubeconfig"] = json.dumps(config)


def unchained(recorder: Recorder) -> None:
    option(AGENT_POOL, SPOT, dependencies=())(recorder)


TRAPS = {
    "01-the-system-pool-can-hold-the-system": Trap(
        traps.system_pool_can_hold_the_system,
        (
            of_initial(scaleSetPriority="Spot"),
            of_initial(maxPods=20),
            of_initial(count=1),
            of_cluster(lambda c: c["agentPoolProfiles"][0].pop("mode")),
            edit(AGENT_POOL, WORKLOAD, lambda p: p.pop("osType")),
        ),
    ),
    "02-user-pools-may-be-empty-and-the-system-pool-never": Trap(
        traps.user_pools_may_be_empty_and_the_system_pool_never,
        (of_initial(minCount=0), of_pool(WORKLOAD, maxCount=1001), of_initial(mode="User")),
    ),
    "03-names-are-given-and-fit": Trap(
        traps.names_fit,
        (
            of_pool(WORKLOAD, agentPoolName="workload1234567"),
            of_pool(WORKLOAD, agentPoolName="Workload"),
            edit(AGENT_POOL, WORKLOAD, lambda p: p.pop("agentPoolName")),
            of_pool(WORKLOAD, agentPoolName="initial"),
        ),
    ),
    "04-spot-has-its-three-fields": Trap(
        traps.spot_has_its_three_fields,
        (
            of_pool(SPOT, scaleSetEvictionPolicy="Deallocate"),
            edit(AGENT_POOL, SPOT, lambda p: p.pop("spotMaxPrice")),
            of_pool(WORKLOAD, spotMaxPrice=-1),
        ),
    ),
    "05-spot-says-what-aks-adds-by-itself": Trap(
        traps.spot_says_what_aks_adds,
        (
            of_pool(SPOT, nodeTaints=[]),
            edit(AGENT_POOL, SPOT, lambda p: p["nodeLabels"].pop(SPOT_KEY)),
            edit(AGENT_POOL, WORKLOAD, lambda p: p["nodeLabels"].update({SPOT_KEY: "spot"})),
        ),
    ),
    "06-upgrades-are-said-where-aks-takes-them": Trap(
        traps.upgrades_are_said_where_aks_takes_them,
        (
            of_pool(SPOT, upgradeSettings={"maxSurge": "33%"}),
            of_pool(WORKLOAD, upgradeSettings={"maxSurge": "0"}),
            edit(AGENT_POOL, WORKLOAD, lambda p: p.pop("type")),
        ),
    ),
    "07-no-label-is-under-a-reserved-prefix": Trap(
        traps.labels_are_allowed,
        (
            edit(AGENT_POOL, WORKLOAD, lambda p: p["nodeLabels"].update({"kubernetes.azure.com/mode": "user"})),
            edit(AGENT_POOL, SPOT, lambda p: p["nodeLabels"].update({"node.kubernetes.io/lifecycle": "spot"})),
        ),
    ),
    "08-some-nodes-take-everything": Trap(
        traps.some_nodes_take_everything, (of_initial(nodeTaints=["CriticalAddonsOnly=true:NoSchedule"]),)
    ),
    "09-pools-are-made-one-after-the-other": Trap(
        traps.pools_are_made_one_by_one,
        (unchained, option(AGENT_POOL, WORKLOAD, dependencies=(), parent="")),
    ),
    "10-one-pool-is-the-clusters-own-and-the-others-are-resources": Trap(
        traps.one_pool_is_the_clusters_own,
        (
            of_cluster(lambda c: c["agentPoolProfiles"].append({**c["agentPoolProfiles"][0], "name": "second"})),
            option(CLUSTER, "test-cluster", ignore_changes=()),
            option(CLUSTER, "test-cluster", ignore_changes=("agent_pool_profiles",)),
        ),
    ),
    "11-the-count-is-the-autoscalers-where-it-scales-and-ours-elsewhere": Trap(
        traps.the_autoscaler_owns_elastic_sizes_only,
        (
            option(AGENT_POOL, WORKLOAD, ignore_changes=()),
            option(AGENT_POOL, DATA, ignore_changes=("count",)),
            edit(AGENT_POOL, WORKLOAD, lambda p: p.pop("count")),
            of_pool(DATA, minCount=1, maxCount=1),
        ),
    ),
    "12-what-aks-never-changes-makes-another-pool": Trap(
        traps.an_immutable_change_is_another_name,
        (
            of_pool(WORKLOAD, vmSize="Standard_D16s_v5"),
            of_pool(WORKLOAD, osDiskSizeGB=256),
            of_pool(DATA, availabilityZones=["2"]),
            option(AGENT_POOL, WORKLOAD, delete_before_replace=True),
            option(AGENT_POOL, WORKLOAD, delete_before_replace=None),
        ),
    ),
    "13-the-autoscaler-chooses-and-knows-zones": Trap(
        traps.the_autoscaler_chooses_and_knows_zones,
        (
            of_cluster(lambda c: c["autoScalerProfile"].pop("expander")),
            of_cluster(lambda c: c["autoScalerProfile"].update(balanceSimilarNodeGroups="false")),
            of_pool("test-pools-jupyter-1", availabilityZones=["1", "2", "3"]),
            of_pool(SPOT, enableAutoScaling=False),
            of_cluster(lambda c: c.update(nodeProvisioningProfile={"mode": "Auto"})),
        ),
    ),
    "14-gpus-have-driver-and-plug-in": Trap(
        traps.gpus_have_driver_and_plug_in,
        (
            of_pool(GPU, gpuProfile={"driver": "None"}),
            edit(AGENT_POOL, GPU, lambda p: p["tags"].update(SkipGPUDriverInstall="true")),
            drop(traps.DAEMON_SET, "test-own-device-plugin"),
        ),
    ),
    "15-identities-have-their-roles-before-the-cluster": Trap(
        traps.roles_come_before_the_cluster,
        (
            of_cluster(lambda c: c.update(identity={"type": "SystemAssigned"})),
            of_cluster(lambda c: c["identityProfile"].clear()),
            drop(ROLE_ASSIGNMENT, "test-identities-subnet"),
            option(CLUSTER, "test-cluster", dependencies=(), parent=""),
            of_cluster(lambda c: c["oidcIssuerProfile"].update(enabled=False)),
        ),
    ),
    "16-the-way-in-needs-no-local-account": Trap(
        traps.the_way_in_needs_no_local_account,
        (
            of_cluster(lambda c: c.update(disableLocalAccounts=False)),
            edit(KUBERNETES, "test-kubernetes", tokens_of_the_provider),
            of_cluster(lambda c: c.update(nodeResourceGroup="research")),
            of_cluster(lambda c: c["networkProfile"].update(networkPlugin="kubenet")),
            of_pool(WORKLOAD, maxPods="110"),
        ),
    ),
    "17-spot-stands-in-no-upgrades-way": Trap(
        traps.spot_stands_in_no_upgrades_way,
        (
            edit(AGENT_POOL, SPOT, lambda p: p.pop("orchestratorVersion")),
            of_cluster(lambda c: c.update(kubernetesVersion=NEWEST)),
            edit(AGENT_POOL, SPOT, lambda p: p["nodeLabels"].update({"igz-clusters.io/role": "initial"})),
        ),
    ),
}
BREAKS = [(name, index) for name, trap in TRAPS.items() for index in range(len(trap.breaks))]


@pytest.mark.parametrize("environment", ["dev", "prod"])
@pytest.mark.parametrize("name", TRAPS)
def test_our_program_avoids_the_trap(name: str, environment: str) -> None:
    assert list(TRAPS[name].check(built(environment))) == []


@pytest.mark.parametrize(("name", "index"), BREAKS)
def test_a_program_in_the_trap_is_noticed(name: str, index: int) -> None:
    broken = deepcopy(built("prod"))
    TRAPS[name].breaks[index](broken)
    assert list(TRAPS[name].check(broken)) != []
