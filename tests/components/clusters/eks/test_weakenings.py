"""A careless edit of a component, laid over what it declares, trips the rules that exist for it and no others."""

import json
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE

from support.eks import CLUSTER, LAUNCH_TEMPLATE, NODE_GROUP, TAG, build
from support.policies import Wire, sent
from support.recorder import Recorder

Props = dict[str, Any]
DEPLOYMENT = "kubernetes:apps/v1:Deployment"
SUBNET = "aws:ec2/subnet:Subnet"
PRIORITY_CLASS = "kubernetes:scheduling.k8s.io/v1:PriorityClass"
LIFECYCLE = "app.iguazio.com/lifecycle"

LISTED = {"jupyterServices": ["reports"]}
"""Production has a Jupyter pool here, so it lists a service for it."""

PRODUCTION: Props = {"environment": "prod", "cluster.backup": {}}

WEAKENINGS: dict[str, tuple[str, str, Callable[[Props], object], set[str]]] = {
    "group-without-role": (NODE_GROUP, "test-arm", lambda g: g["labels"].pop("igz-clusters.io/role"), {"NG-01"}),
    "no-initial-group": (
        NODE_GROUP,
        "test-initial",
        lambda g: g["labels"].update({"igz-clusters.io/role": "workload"}),
        {"NG-02"},
    ),
    "one-initial-node-in-prod": (
        NODE_GROUP,
        "test-initial",
        lambda g: g["scalingConfig"].update(minSize=1, maxSize=1, desiredSize=1),
        {"NG-06"},
    ),
    "autoscaled-initial-group": (
        NODE_GROUP,
        "test-initial",
        lambda g: g["scalingConfig"].update(maxSize=5),
        {"NG-07"},
    ),
    "desired-size-beside-the-bounds": (
        NODE_GROUP,
        "test-initial",
        lambda g: g["scalingConfig"].update(desiredSize=4),
        {"NG-07"},
    ),
    "spot-initial-group": (
        NODE_GROUP,
        "test-initial",
        lambda g: (
            g.update(capacityType="SPOT"),
            g["labels"].update({LIFECYCLE: "preemptible"}),
            g["taints"].append({"key": LIFECYCLE, "value": "preemptible", "effect": "NO_SCHEDULE"}),
        ),
        {"NG-08", "HN-07"},
    ),
    "gpu-type-among-others": (
        NODE_GROUP,
        "test-workload",
        lambda g: g["instanceTypes"].append("g5.2xlarge"),
        {"NG-16", "NG-17", "HN-07"},
    ),
    "gpu-group-without-gpu": (
        NODE_GROUP,
        "test-gpu",
        lambda g: g.update(instanceTypes=["m6i.2xlarge"]),
        {"NG-16"},
    ),
    "gpu-group-without-taint": (NODE_GROUP, "test-gpu", lambda g: g.update(taints=[]), {"NG-17"}),
    "gpu-taint-with-another-value": (
        NODE_GROUP,
        "test-gpu",
        lambda g: g["taints"][0].update(value="true"),
        {"NG-17"},
    ),
    "spot-group-labelled-as-kept": (
        NODE_GROUP,
        "test-spot",
        lambda g: g["labels"].update({LIFECYCLE: "non-preemptible"}),
        {"NG-23"},
    ),
    "group-without-lifecycle": (NODE_GROUP, "test-arm", lambda g: g["labels"].pop(LIFECYCLE), {"NG-23"}),
    "spot-group-without-taint": (NODE_GROUP, "test-spot", lambda g: g.update(taints=[]), {"NG-24", "SP-05"}),
    "spot-taint-that-only-prefers": (
        NODE_GROUP,
        "test-spot",
        lambda g: g["taints"][0].update(effect="PREFER_NO_SCHEDULE"),
        {"NG-24", "SP-05"},
    ),
    "initial-group-open-to-user-work": (
        NODE_GROUP,
        "test-initial",
        lambda g: g["labels"].update({"igz-clusters.io/user-workloads": "true"}),
        {"NG-03"},
    ),
    "warm-group-that-cools-down": (
        NODE_GROUP,
        "test-workload",
        lambda g: g["scalingConfig"].update(minSize=0, desiredSize=0),
        {"NG-10"},
    ),
    "group-without-end": (NODE_GROUP, "test-arm", lambda g: g["scalingConfig"].update(maxSize=450), {"NG-11"}),
    "group-that-the-autoscaler-does-not-find": (
        TAG,
        "test-arm/igz-clusters.io/autoscaler",
        lambda t: t["tag"].update(value="other"),
        {"NG-14"},
    ),
    "autoscaler-that-looks-for-another-tag": (
        DEPLOYMENT,
        "test-own-autoscaler",
        lambda d: d["spec"]["template"]["spec"]["containers"][0].update(
            command=["./cluster-autoscaler", "--node-group-auto-discovery=asg:tag=team=ml"]
        ),
        {"NG-14"},
    ),
    "data-machine-that-may-be-stopped": (
        LAUNCH_TEMPLATE,
        "test-data-a",
        lambda t: t.update(disableApiStop=False),
        {"NG-20"},
    ),
    "data-group-that-is-repaired": (
        NODE_GROUP,
        "test-data-b",
        lambda g: g["nodeRepairConfig"].update(enabled=True),
        {"NG-20"},
    ),
    "data-group-that-scales": (
        NODE_GROUP,
        "test-data-a",
        lambda g: g["scalingConfig"].update(maxSize=2),
        {"NG-21"},
    ),
    "data-group-on-network-disks": (
        NODE_GROUP,
        "test-data-a",
        lambda g: g.update(instanceTypes=["m6i.2xlarge"]),
        {"NG-22"},
    ),
    "cluster-that-does-not-say-what-it-is-for": (
        CLUSTER,
        "test-cluster",
        # The provider's default tags would fill in for a tag that is left out.
        lambda c: c["tags"].update(environment=""),
        {"EN-01", "HT-01"},
    ),
    "group-of-another-environment": (
        NODE_GROUP,
        "test-arm",
        lambda g: g["tags"].update(environment="dev"),
        {"EN-02"},
    ),
    "class-that-preempts": (
        PRIORITY_CLASS,
        "igz-workload-high",
        lambda c: c.update(preemptionPolicy="PreemptLowerPriority"),
        {"PR-03"},
    ),
    "api-open-to-the-office": (
        CLUSTER,
        "test-cluster",
        lambda c: c["vpcConfig"].update(endpointPublicAccess=True, publicAccessCidrs=["203.0.113.0/24"]),
        {"HE-01"},
    ),
    "no-private-endpoint": (
        CLUSTER,
        "test-cluster",
        lambda c: c["vpcConfig"].update(endpointPrivateAccess=False),
        {"HE-02"},
    ),
    "secrets-without-a-key": (CLUSTER, "test-cluster", lambda c: c.pop("encryptionConfig"), {"HE-03"}),
    "no-audit-log": (CLUSTER, "test-cluster", lambda c: c["enabledClusterLogTypes"].remove("audit"), {"HE-04"}),
    "old-version": (CLUSTER, "test-cluster", lambda c: c.update(version="1.29"), {"HE-05"}),
    "creator-is-an-admin": (
        CLUSTER,
        "test-cluster",
        lambda c: c["accessConfig"].update(bootstrapClusterCreatorAdminPermissions=True),
        {"HE-06"},
    ),
    "deletable-cluster": (CLUSTER, "test-cluster", lambda c: c.update(deletionProtection=False), {"HE-07"}),
    "open-disk": (
        LAUNCH_TEMPLATE,
        "test-workload",
        lambda t: t["blockDeviceMappings"][0]["ebs"].update(encrypted="false"),
        {"HN-02"},
    ),
    "ssh-from-everywhere": (
        NODE_GROUP,
        "test-workload",
        lambda g: g.update(remoteAccess={"ec2SshKey": "operators"}),
        {"HN-03"},
    ),
    "public-addresses": (
        SUBNET,
        "test-network-private-a",
        lambda s: s.update(mapPublicIpOnLaunch=True),
        {"HN-04"},
    ),
    "auto-mode": (CLUSTER, "test-cluster", lambda c: c.update(computeConfig={"enabled": True}), {"HN-05"}),
    "sick-nodes-stay": (
        NODE_GROUP,
        "test-workload",
        lambda g: g["nodeRepairConfig"].update(enabled=False),
        {"HN-06"},
    ),
    "machines-without-tags": (LAUNCH_TEMPLATE, "test-gpu", lambda t: t.pop("tagSpecifications"), {"HT-01"}),
    "low-above-high": (PRIORITY_CLASS, "igz-workload-low", lambda c: c.update(value=900), {"PR-02"}),
}


@cache
def production() -> Recorder:
    return build(PRODUCTION)


def judge(change: tuple[str, str, Callable[[Props], object]] | None = None) -> Any:
    recorder = deepcopy(production())
    if change:
        token, name, weaken = change
        weaken(recorder.of_type(token)[name])
    wire = Wire(stack={"environment": "prod", "profile": "mlrun-ce", "policies": LISTED})
    return wire.judge_stack(sent(recorder))


def test_a_stack_with_every_kind_of_pool_passes_every_rule_without_a_doubt() -> None:
    assert judge().outcome == {"expect": [], "advise": [], "unjudged": []}


def test_the_inputs_of_a_first_preview_are_enough_for_every_rule() -> None:
    """No identifier and nothing that AWS computes is known then; a rule that cannot tell fails in CI."""
    recorder = build(PRODUCTION, first_preview=True)
    assert UNKNOWN_STRING_VALUE in json.dumps(recorder.sent[NODE_GROUP, "test-workload"])
    wire = Wire(stack={"environment": "prod", "profile": "mlrun-ce", "policies": LISTED})
    report = wire.judge_stack(sent(recorder))
    assert report.outcome == {"expect": [], "advise": [], "unjudged": []}


@pytest.mark.parametrize("name", WEAKENINGS)
def test_a_weakened_default_trips_exactly_its_rules(name: str) -> None:
    token, resource, weaken, rules = WEAKENINGS[name]
    report = judge((token, resource, weaken))
    assert set(report.violated) | set(report.advised) == rules, report.messages
    assert report.unjudged == []


@pytest.mark.parametrize(("weaken", "rules"), [("protect", {"HE-07"}), ("zones", {"HE-08"}), ("nothing", set())])
def test_what_a_resource_alone_does_not_show_is_judged_too(weaken: str, rules: set[str]) -> None:
    recorder = deepcopy(production())
    key = (CLUSTER, "test-cluster")
    if weaken == "protect":
        recorder.options[key] = replace(recorder.options[key], protect=False)
    if weaken == "zones":
        for subnet in recorder.of_type(SUBNET).values():
            subnet["availabilityZone"] = "eu-west-1a"
    report = Wire(stack={"environment": "prod", "profile": "mlrun-ce", "policies": LISTED}).judge_stack(sent(recorder))
    assert set(report.violated) | set(report.advised) == rules, report.messages
