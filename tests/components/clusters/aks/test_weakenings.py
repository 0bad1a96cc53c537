"""A careless edit of a component, laid over what it declares, trips the rules that exist for it and no others."""

import json
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE

from support.aks import AGENT_POOL, CLUSTER, NO_INTERNET, Props, build, built
from support.policies import Wire, sent
from support.recorder import Recorder

PRIORITY_CLASS = "kubernetes:scheduling.k8s.io/v1:PriorityClass"
SETTING = "azure-native:monitor:DiagnosticSetting"
NETWORK = "azure-native:network:VirtualNetwork"
GROUP = "azure-native:resources:ResourceGroup"
LIFECYCLE = "app.iguazio.com/lifecycle"
ROLE = "igz-clusters.io/role"
WORKLOAD, SPOT, GPU, DATA = (f"test-pools-{name}" for name in ("workload", "spot", "gpu", "data-1"))

Change = Callable[[Props], object]


def of_initial(change: Change) -> Change:
    return lambda c: change(c["agentPoolProfiles"][0])


PRODUCTION: Props = {"environment": "prod", "cluster.backup": {}}


@cache
def production() -> Recorder:
    return build(PRODUCTION)


LISTED = {"jupyterServices": ["reports"]}
"""Production has a Jupyter pool here, so it lists a service for it."""

WEAKENINGS: dict[str, tuple[str, str, Change, set[str]]] = {
    "pool-without-role": (AGENT_POOL, WORKLOAD, lambda p: p["nodeLabels"].pop(ROLE), {"NG-01", "NG-12"}),
    "no-initial-pool": (
        CLUSTER,
        "test-cluster",
        of_initial(lambda p: p["nodeLabels"].update({ROLE: "workload"})),
        {"NG-02"},
    ),
    "initial-pool-open-to-user-work": (
        CLUSTER,
        "test-cluster",
        of_initial(lambda p: p["nodeLabels"].update({"igz-clusters.io/user-workloads": "true"})),
        {"NG-03", "HA-06"},
    ),
    "one-initial-node-in-prod": (CLUSTER, "test-cluster", of_initial(lambda p: p.update(count=1)), {"NG-06", "HA-06"}),
    "two-initial-nodes-in-prod": (CLUSTER, "test-cluster", of_initial(lambda p: p.update(count=2)), {"HA-06"}),
    "autoscaled-initial-pool": (
        CLUSTER,
        "test-cluster",
        of_initial(lambda p: p.update(enableAutoScaling=True, minCount=3, maxCount=5)),
        {"NG-07"},
    ),
    "spot-initial-pool": (
        CLUSTER,
        "test-cluster",
        of_initial(lambda p: p.update(scaleSetPriority="Spot")),
        {"NG-08", "NG-23"},
    ),
    "warm-pool-that-cools-down": (AGENT_POOL, WORKLOAD, lambda p: p.update(minCount=0, count=0), {"NG-10"}),
    "pool-without-end": (AGENT_POOL, WORKLOAD, lambda p: p.update(maxCount=900), {"NG-11"}),
    "gpu-machine-among-others": (
        AGENT_POOL,
        WORKLOAD,
        lambda p: p.update(vmSize="Standard_NC4as_T4_v3"),
        {"NG-16", "NG-17"},
    ),
    "gpu-pool-without-gpu": (AGENT_POOL, GPU, lambda p: p.update(vmSize="Standard_D8s_v5"), {"NG-16"}),
    "gpu-pool-without-taint": (AGENT_POOL, GPU, lambda p: p.pop("nodeTaints"), {"NG-17"}),
    "gpu-taint-with-another-value": (
        AGENT_POOL,
        GPU,
        lambda p: p.update(nodeTaints=["nvidia.com/gpu=true:NoSchedule"]),
        {"NG-17"},
    ),
    "data-pool-that-is-stopped": (AGENT_POOL, DATA, lambda p: p.update(powerState={"code": "Stopped"}), {"NG-20"}),
    "data-pool-that-scales": (
        AGENT_POOL,
        DATA,
        lambda p: p.update(enableAutoScaling=True, minCount=1, maxCount=2),
        {"NG-21"},
    ),
    "data-pool-on-network-disks": (AGENT_POOL, DATA, lambda p: p.update(vmSize="Standard_D8s_v5"), {"NG-22"}),
    "new-images-beside-data": (
        CLUSTER,
        "test-cluster",
        lambda c: c["autoUpgradeProfile"].update(nodeOSUpgradeChannel="NodeImage"),
        {"NG-20"},
    ),
    "spot-pool-labelled-as-kept": (
        AGENT_POOL,
        SPOT,
        lambda p: p["nodeLabels"].update({LIFECYCLE: "non-preemptible"}),
        {"NG-23"},
    ),
    "pool-without-lifecycle": (AGENT_POOL, WORKLOAD, lambda p: p["nodeLabels"].pop(LIFECYCLE), {"NG-23"}),
    "cluster-that-does-not-say-what-it-is-for": (
        CLUSTER,
        "test-cluster",
        lambda c: c["tags"].pop("environment"),
        {"EN-01", "HT-01"},
    ),
    "pool-of-another-environment": (
        AGENT_POOL,
        WORKLOAD,
        lambda p: p["tags"].update(environment="dev"),
        {"EN-02"},
    ),
    "api-open-to-the-world": (
        CLUSTER,
        "test-cluster",
        lambda c: c.update(apiServerAccessProfile={"disableRunCommand": True}),
        {"HA-01"},
    ),
    "api-open-to-two-halves-of-the-world": (
        CLUSTER,
        "test-cluster",
        lambda c: c.update(
            apiServerAccessProfile={"authorizedIPRanges": ["0.0.0.0/1", "128.0.0.0/1"], "disableRunCommand": True}
        ),
        {"HA-01"},
    ),
    "local-accounts": (CLUSTER, "test-cluster", lambda c: c.update(disableLocalAccounts=False), {"HA-02"}),
    "roles-of-nobody": (CLUSTER, "test-cluster", lambda c: c["aadProfile"].update(enableAzureRBAC=False), {"HA-02"}),
    "no-roles-at-all": (CLUSTER, "test-cluster", lambda c: c.update(enableRBAC=False), {"HA-02"}),
    "policies-that-nobody-enforces": (
        CLUSTER,
        "test-cluster",
        lambda c: c["networkProfile"].update(networkPolicy="none"),
        {"HA-03"},
    ),
    "free-production": (CLUSTER, "test-cluster", lambda c: c["sku"].update(tier="Free"), {"HA-04"}),
    "no-word-of-upgrades": (
        CLUSTER,
        "test-cluster",
        lambda c: c.pop("autoUpgradeProfile"),
        {"HA-05", "NG-20"},
    ),
    "no-audit-log": (SETTING, "test-cluster-logs", lambda s: s.update(logs=[]), {"HA-07"}),
    "no-logs-of-containers": (CLUSTER, "test-cluster", lambda c: c.pop("addonProfiles"), {"HA-07"}),
    "open-host": (AGENT_POOL, WORKLOAD, lambda p: p.update(enableEncryptionAtHost=False), {"HA-08"}),
    "open-host-of-the-system": (
        CLUSTER,
        "test-cluster",
        of_initial(lambda p: p.update(enableEncryptionAtHost=False)),
        {"HA-08"},
    ),
    "disks-under-azures-key": (CLUSTER, "test-cluster", lambda c: c.pop("diskEncryptionSetID"), {"HA-08"}),
    "secrets-under-azures-key": (
        CLUSTER,
        "test-cluster",
        lambda c: c["securityProfile"].pop("azureKeyVaultKms"),
        {"HA-08"},
    ),
    "run-command": (
        CLUSTER,
        "test-cluster",
        lambda c: c["apiServerAccessProfile"].update(disableRunCommand=False),
        {"HA-09"},
    ),
    "key-for-ssh": (
        CLUSTER,
        "test-cluster",
        lambda c: c.update(linuxProfile={"adminUsername": "azureuser", "ssh": {"publicKeys": [{"keyData": "x"}]}}),
        {"HA-09"},
    ),
    "pods-without-identity": (
        CLUSTER,
        "test-cluster",
        lambda c: c["securityProfile"].pop("workloadIdentity"),
        {"HA-09"},
    ),
    "few-pods-a-node": (AGENT_POOL, WORKLOAD, lambda p: p.update(maxPods=30), {"HA-10"}),
    "public-addresses": (AGENT_POOL, WORKLOAD, lambda p: p.update(enableNodePublicIP=True), {"HN-04"}),
    "pool-without-tags": (AGENT_POOL, GPU, lambda p: p.update(tags={"environment": "prod"}), {"HT-01"}),
    "group-without-tags": (GROUP, "test-group", lambda g: g.pop("tags"), {"HT-01"}),
    "network-without-tags": (NETWORK, "test-network-network", lambda n: n.pop("tags"), {"HT-01"}),
    "class-that-preempts": (
        PRIORITY_CLASS,
        "igz-workload-high",
        lambda c: c.update(preemptionPolicy="PreemptLowerPriority"),
        {"PR-03"},
    ),
    "low-above-high": (PRIORITY_CLASS, "igz-workload-low", lambda c: c.update(value=900), {"PR-02"}),
}


def judge(change: tuple[str, str, Change] | None = None) -> Any:
    recorder = deepcopy(production())
    if change:
        token, name, weaken = change
        weaken(recorder.of_type(token)[name])
    return Wire(stack={"environment": "prod", "profile": "mlrun-ce", "policies": LISTED}).judge_stack(sent(recorder))


@pytest.mark.parametrize("environment", ["dev", "prod"])
def test_a_stack_with_every_kind_of_pool_passes_every_rule_without_a_doubt(environment: str) -> None:
    wire = Wire(stack={"environment": environment, "profile": "mlrun-ce", "policies": LISTED})
    declared = production() if environment == "prod" else built(environment)
    assert wire.judge_stack(sent(declared)).outcome == {"expect": [], "advise": [], "unjudged": []}


def test_an_isolated_production_cluster_misses_only_the_backups_that_azure_does_not_document_for_it() -> None:
    isolated = build({"environment": "prod", **NO_INTERNET})
    report = Wire(stack={"environment": "prod", "profile": "mlrun-ce", "policies": LISTED}).judge_stack(sent(isolated))
    assert report.outcome == {"expect": [], "advise": ["HB-01"], "unjudged": []}


def test_the_inputs_of_a_first_preview_are_enough_for_every_rule() -> None:
    """No identifier and nothing that Azure computes is known then; a rule that cannot tell fails in CI."""
    recorder = build(PRODUCTION, first_preview=True)
    assert UNKNOWN_STRING_VALUE in json.dumps(recorder.sent[AGENT_POOL, WORKLOAD])
    report = Wire(stack={"environment": "prod", "profile": "mlrun-ce", "policies": LISTED}).judge_stack(sent(recorder))
    assert report.outcome == {"expect": [], "advise": [], "unjudged": []}


@pytest.mark.parametrize("name", WEAKENINGS)
def test_a_weakened_default_trips_exactly_its_rules(name: str) -> None:
    token, resource, weaken, rules = WEAKENINGS[name]
    report = judge((token, resource, weaken))
    assert set(report.violated) | set(report.advised) == rules, report.messages
    assert report.unjudged == []


@pytest.mark.parametrize(
    ("key", "changes", "rules"),
    [
        ((CLUSTER, "test-cluster"), {"protect": False}, {"HE-07"}),
        ((AGENT_POOL, DATA), {"protect": False}, {"NG-20"}),
        ((AGENT_POOL, DATA), {"ignore_changes": ()}, {"NG-20"}),
        ((AGENT_POOL, WORKLOAD), {"ignore_changes": ()}, {"NG-15"}),
        ((AGENT_POOL, WORKLOAD), {"ignore_changes": ("Count",)}, {"NG-15"}),
    ],
)
def test_what_the_engine_is_told_beside_the_inputs_is_judged_too(
    key: tuple[str, str], changes: Props, rules: set[str]
) -> None:
    recorder = deepcopy(production())
    recorder.options[key] = replace(recorder.options[key], **changes)
    report = Wire(stack={"environment": "prod", "profile": "mlrun-ce", "policies": LISTED}).judge_stack(sent(recorder))
    assert set(report.violated) | set(report.advised) == rules, report.messages


def test_a_pool_that_azure_lists_in_the_cluster_is_judged_once_as_the_resource_that_it_is() -> None:
    """After a refresh the ignored list holds all pools, in an unprotected cluster of development too."""
    recorder = deepcopy(built("dev"))
    cluster = recorder.of_type(CLUSTER)["test-cluster"]
    own = ("agentPoolName", "resourceGroupName", "resourceName")
    for pool in recorder.of_type(AGENT_POOL).values():
        inline = {key: value for key, value in pool.items() if key not in own}
        cluster["agentPoolProfiles"].append({"name": pool["agentPoolName"], **inline})
    report = Wire(stack={"environment": "dev", "profile": "mlrun-ce"}).judge_stack(sent(recorder))
    assert report.outcome == {"expect": [], "advise": [], "unjudged": []}
