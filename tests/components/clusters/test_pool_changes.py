"""A change of one pool changes, in the same preview, all that depends on it inside the cluster and beside it."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final

import pytest

from components.contract.environments import ClusterKind
from components.contract.systems.platform_cluster import PlatformCluster
from components.contract.systems.registry import SYSTEMS
from components.contract.systems.system_values import SystemChoices
from infra.config import StackConfig
from infra.config.effective import SETTINGS_DIGEST
from support.siblings import KINDS, POOLS, TYPES, config_of, declared

Pools = Mapping[str, Mapping[str, Any]]

CHANGES: Final[Mapping[str, Callable[[Pools], Pools]]] = {
    "rename": lambda pools: {"cheap" if name == "spot" else name: pool for name, pool in pools.items()},
    "lifecycle": lambda pools: {**pools, "spot": {k: v for k, v in pools["spot"].items() if k != "lifecycle"}},
    "role": lambda pools: {**pools, "jupyter": {**pools["jupyter"], "role": "workload"}},
    "gpu": lambda pools: {name: pool for name, pool in pools.items() if name != "gpu"},
}

GROUPS: Final = ("NodeGroup", "NodePool", "LaunchTemplate", "Tag", "AgentPool", "Pool", "kwok-provider")
"""What types and names of the resources that a pool itself consists of contain."""

ALWAYS: Final = {"PolicyParameters igz-clusters", "output pools"}
_MLRUN: Final = "ConfigMap mlrun-mlrun-mlrun-override-env"
_MUTATION: Final = "MutatingAdmissionPolicy igz"
_GPU: Final = {f"{_MUTATION}-default-resources", f"{_MUTATION}-placement-mutation", f"{_MUTATION}-pod-corrections"}
_PLUGIN: Final = {"DaemonSet test-own-device-plugin", "ServiceAccount test-own-device-plugin-account"}

DEPENDENT: Final[Mapping[str, set[str]]] = {
    "rename": ALWAYS,
    "lifecycle": {*ALWAYS, _MLRUN, f"{_MUTATION}-pod-corrections", "values mlrun-ce", "values nuclio"},
    "role": {"output pools", "values app-services", "values jupyterhub", "values mlrun-ce"},
    "gpu": {
        *ALWAYS,
        *_GPU,
        *_PLUGIN,
        "ValidatingAdmissionPolicy igz-gangs",
        "ValidatingAdmissionPolicy igz-pods-advisory",
        "ValidatingAdmissionPolicyBinding igz-gangs",
        "values app-services",
        "values jupyterhub",
    },
}
"""What else changes."""


@pytest.mark.parametrize("kind", [ClusterKind.LOCAL, ClusterKind.EKS, ClusterKind.AKS])
@pytest.mark.parametrize("change", CHANGES)
def test_all_that_depends_on_a_pool_changes_with_it(kind: ClusterKind, change: str) -> None:
    before, after = _unchanged(kind), _state(_config(kind, CHANGES[change](_pools(kind))))
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    of_the_pool = {name for name in changed if any(part in name for part in GROUPS)}
    assert of_the_pool
    # The local cluster has a simulated device plug-in.
    assert changed - of_the_pool == DEPENDENT[change] - (_PLUGIN if kind is ClusterKind.LOCAL else set())


@cache
def _unchanged(kind: ClusterKind) -> dict[str, Any]:
    return _state(_config(kind, _pools(kind)))


def _pools(kind: ClusterKind) -> Pools:
    return {name: {**pool, "instanceTypes": TYPES[KINDS[kind].cloud][name]} for name, pool in POOLS.items()}


def _config(kind: ClusterKind, pools: Pools) -> StackConfig:
    cluster = dict(KINDS[kind].cluster)
    if kind is not ClusterKind.LOCAL:
        cluster["version"] = "1.36"
    return config_of(kind, cluster=cluster, pools=pools, namespaces={"mlrun": {"coreServices": True}})


def _state(config: StackConfig) -> dict[str, Any]:
    """Return all that is declared, exported and printed by ``values``, by a name of each."""
    found = declared(config)
    resources = {
        f"{each.type.rpartition(':')[2]} {each.name}": each.inputs
        for each in found.resources
        if not each.type.startswith("igz-clusters:")  # components, which have no life of their own
    }
    # The digest of all settings changes with every change.
    exports = {f"output {name}": value for name, value in found.exports.items() if name != SETTINGS_DIGEST}
    cluster = PlatformCluster(
        groups=config.groups,
        spot_taint=config.spot_taint,
        pod_resources=config.pod_resources,
        places_by_itself=True,
    )
    choices = SystemChoices(namespace="mlrun")
    values = {
        f"values {name}": each.values(cluster, choices).content
        for name, each in SYSTEMS.items()
        if not each.lack(cluster)
    }
    return {**resources, **exports, **values}
