"""Traps of AKS, each as a check over everything that a program declares.

A check yields what is wrong, and nothing for a program that avoids the trap. The numbers and the breakages that each
check must notice stand in ``tests/components/clusters/aks/test_traps.py``.
"""

import json
import re
from collections.abc import Iterator

from components.contract.aks.agent_pools import pool_name
from components.contract.aks.config import AksConfig
from components.contract.instances import INSTANCE_TYPES
from components.contract.taints import AKS_SPOT_TAINT
from support.aks import AGENT_POOL, CLUSTER, KUBERNETES, ROLE_ASSIGNMENT, SUBNET, Props, config, pools
from support.recorder import Recorder

DAEMON_SET = "kubernetes:apps/v1:DaemonSet"
OPERATOR, CONTRIBUTOR = "f1a07417-d97a-45cb-824c-7a7467783830", "4d97b98b-1d4f-4787-a291-c67834d212e7"


def made(recorder: Recorder) -> Props:
    cluster: Props = recorder.of_type(CLUSTER)["test-cluster"]
    return cluster


def is_spot(pool: Props) -> bool:
    return pool.get("scaleSetPriority") == "Spot"


def system_pool_can_hold_the_system(recorder: Recorder) -> Iterator[str]:
    for name, pool in pools(recorder).items():
        if pool.get("mode") not in ("System", "User") or pool.get("osType") != "Linux":
            yield f"{name}: mode or system is left to a default"
        if pool.get("mode") != "System":
            continue
        machine = INSTANCE_TYPES[pool["vmSize"]]
        if is_spot(pool) or pool["maxPods"] < 30 or pool["vmSize"].startswith("Standard_B"):
            yield name
        if pool["count"] < 2 or machine.vcpus < 4 or machine.memory_mib < 4096:
            yield f"{name}: too small"


def user_pools_may_be_empty_and_the_system_pool_never(recorder: Recorder) -> Iterator[str]:
    found = pools(recorder)
    for name, pool in found.items():
        smallest = pool.get("minCount", pool["count"])
        if not (0 if pool["mode"] == "User" else 1) <= smallest <= pool.get("maxCount", pool["count"]) <= 1000:
            yield f"{name}: {smallest}"
    if not any(pool["mode"] == "System" for pool in found.values()):
        yield "no system pool"


def names_fit(recorder: Recorder) -> Iterator[str]:
    found = [pool.get("agentPoolName") or pool.get("name") or "" for pool in pools(recorder).values()]
    yield from (repr(name) for name in found if not re.fullmatch("[a-z][a-z0-9]{0,11}", name))
    if len(found) != len(set(found)):
        yield f"twice: {sorted(found)}"


def spot_has_its_three_fields(recorder: Recorder) -> Iterator[str]:
    for name, pool in pools(recorder).items():
        fields = (pool.get("scaleSetEvictionPolicy"), pool.get("spotMaxPrice"))
        if fields != (("Delete", -1) if is_spot(pool) else (None, None)):
            yield f"{name}: {fields}"


def spot_says_what_aks_adds(recorder: Recorder) -> Iterator[str]:
    for name, pool in pools(recorder).items():
        label = pool["nodeLabels"].get(AKS_SPOT_TAINT.key)
        has_taint = str(AKS_SPOT_TAINT) in pool.get("nodeTaints", [])
        if (label, has_taint) != (("spot", True) if is_spot(pool) else (None, False)):
            yield f"{name}: {label}, {has_taint}"


def upgrades_are_said_where_aks_takes_them(recorder: Recorder) -> Iterator[str]:
    for name, pool in pools(recorder).items():
        if pool.get("type") != "VirtualMachineScaleSets":
            yield f"{name}: no type"
        settings = pool.get("upgradeSettings")
        if is_spot(pool) and settings is not None:
            yield f"{name}: {settings}"
        nodes = {(settings or {}).get(name) for name in ("maxSurge", "maxUnavailable")}
        if not is_spot(pool) and nodes <= {None, "0", "0%"}:
            yield f"{name}: no node can be upgraded"


def labels_are_allowed(recorder: Recorder) -> Iterator[str]:
    for name, pool in pools(recorder).items():
        own = set(pool["nodeLabels"]) - ({AKS_SPOT_TAINT.key} if is_spot(pool) else set())
        for key in own:
            prefix = key.partition("/")[0]
            if any(
                prefix == p or prefix.endswith(f".{p}") for p in ("kubernetes.io", "k8s.io", "kubernetes.azure.com")
            ):
                yield f"{name}: {key}"


def some_nodes_take_everything(recorder: Recorder) -> Iterator[str]:
    for name, pool in pools(recorder).items():
        if pool["mode"] == "System" and pool.get("nodeTaints"):
            yield f"{name}: {pool['nodeTaints']}"


def pools_are_made_one_by_one(recorder: Recorder) -> Iterator[str]:
    keys = [(AGENT_POOL, name) for name in recorder.of_type(AGENT_POOL)]
    needs = {key: recorder.needs(key) for key in keys}
    for index, one in enumerate(keys):
        yield from (
            f"{one} and {other}" for other in keys[:index] if other not in needs[one] and one not in needs[other]
        )
    yield from (f"{key} before the cluster" for key in keys if (CLUSTER, "test-cluster") not in needs[key])


def one_pool_is_the_clusters_own(recorder: Recorder) -> Iterator[str]:
    if len(made(recorder)["agentPoolProfiles"]) != 1:
        yield "others are added and removed through the cluster, which AKS refuses"
    if "agentPoolProfiles" not in recorder.options[CLUSTER, "test-cluster"].ignore_changes:
        yield "each update takes the others out again"


def the_autoscaler_owns_elastic_sizes_only(recorder: Recorder) -> Iterator[str]:
    for name, pool in recorder.of_type(AGENT_POOL).items():
        is_elastic = pool["enableAutoScaling"]
        if ("count" in recorder.options[AGENT_POOL, name].ignore_changes) != is_elastic or "count" not in pool:
            yield f"{name}: count"
        if {"minCount", "maxCount"} & set(pool) != ({"minCount", "maxCount"} if is_elastic else set()):
            yield f"{name}: bounds"


def an_immutable_change_is_another_name(recorder: Recorder) -> Iterator[str]:
    """Compare with the contract: a name belongs to one combination of what AKS never changes."""
    stack = config()
    assert isinstance(stack.cluster, AksConfig)
    wanted = {f"test-pools-{group.name}": (pool_name(group, stack.cluster), group) for group in stack.groups}
    for name, pool in recorder.of_type(AGENT_POOL).items():
        pool_is_called, group = wanted[name]
        zones = [group.zone] if group.zone else list(stack.cluster.zones)
        found = (pool["agentPoolName"], pool["vmSize"], pool["availabilityZones"], pool["osDiskSizeGB"])
        if found != (pool_is_called, group.instances[0].name, zones, stack.cluster.root_volume_gib):
            yield f"{name}: {found}"
        # Left to the plug-in, the old one goes first.
        if recorder.options[AGENT_POOL, name].delete_before_replace is not False:
            yield f"{name}: the old one goes first"


def the_autoscaler_chooses_and_knows_zones(recorder: Recorder) -> Iterator[str]:
    profile = made(recorder).get("autoScalerProfile", {})
    if profile.get("expander") not in ("least-waste", "priority"):
        yield "expander is random"
    if profile.get("balanceSimilarNodeGroups") != "true":
        yield "pools of one kind in several zones grow unevenly"
    for name, pool in pools(recorder).items():
        is_zonal = pool["nodeLabels"]["igz-clusters.io/role"] in ("jupyter", "data")
        if is_zonal and len(pool["availabilityZones"]) != 1:
            yield f"{name}: a disk may lie where no node starts"
        if is_spot(pool) and not pool["enableAutoScaling"]:
            yield f"{name}: nobody starts what Azure took"
    if made(recorder).get("nodeProvisioningProfile"):
        yield "node provisioning wants no autoscaler"


def gpus_have_driver_and_plug_in(recorder: Recorder) -> Iterator[str]:
    found = {name: pool for name, pool in pools(recorder).items() if INSTANCE_TYPES[pool["vmSize"]].gpus}
    for name, pool in found.items():
        if pool.get("gpuProfile") != {"driver": "Install"} or "SkipGPUDriverInstall" in pool["tags"]:
            yield f"{name}: {pool.get('gpuProfile')}"
    if found and not any("device-plugin" in name for name in recorder.of_type(DAEMON_SET)):
        yield "nobody tells the nodes of their GPUs"


def roles_come_before_the_cluster(recorder: Recorder) -> Iterator[str]:
    cluster, before = made(recorder), recorder.needs((CLUSTER, "test-cluster"))
    if cluster["identity"]["type"] != "UserAssigned" or "kubeletidentity" not in cluster["identityProfile"]:
        yield "the identity has no role before the cluster is there"
    roles = {
        n: a["roleDefinitionId"] for n, a in recorder.of_type(ROLE_ASSIGNMENT).items() if (ROLE_ASSIGNMENT, n) in before
    }
    for role in (OPERATOR, CONTRIBUTOR):
        if not any(definition.endswith(role) for definition in roles.values()):
            yield f"late: {role}"
    if cluster["securityProfile"]["workloadIdentity"]["enabled"] and not cluster["oidcIssuerProfile"]["enabled"]:
        yield "identities of pods have no issuer"
    if (SUBNET, "test-network-nodes") not in before:
        yield "no subnet"


def the_way_in_needs_no_local_account(recorder: Recorder) -> Iterator[str]:
    cluster = made(recorder)
    (user,) = json.loads(recorder.of_type(KUBERNETES)["test-kubernetes"]["kubeconfig"])["users"]
    if not cluster["disableLocalAccounts"] or list(user["user"]) != ["exec"]:
        yield "an account of nobody"
    if cluster["nodeResourceGroup"] in (cluster["resourceGroupName"], "research"):
        yield "the group of nodes must not exist before"
    if cluster["networkProfile"]["networkPlugin"] == "kubenet":
        yield "kubenet is retired"
    for name, pool in pools(recorder).items():
        if any(isinstance(pool.get(key), str) for key in ("count", "minCount", "maxCount", "maxPods", "osDiskSizeGB")):
            yield f"{name}: a number as text"


def spot_stands_in_no_upgrades_way(recorder: Recorder) -> Iterator[str]:
    for name, pool in pools(recorder).items():
        if pool.get("orchestratorVersion") != made(recorder)["kubernetesVersion"]:
            yield f"{name}: is upgraded together with the control plane or not at all"
        if is_spot(pool) and pool["nodeLabels"]["igz-clusters.io/role"] == "initial":
            yield f"{name}: core services on nodes that go"
