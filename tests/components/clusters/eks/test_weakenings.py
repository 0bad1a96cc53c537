"""A careless edit of a component, laid over what it declares, trips the rules that exist for it and no others."""

import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE

from support.eks import NODE_GROUP, build, built
from support.policies import Wire

Props = dict[str, Any]
PRIORITY_CLASS = "kubernetes:scheduling.k8s.io/v1:PriorityClass"
LIFECYCLE = "app.iguazio.com/lifecycle"

WEAKENINGS: dict[str, tuple[str, str, Callable[[Props], object], set[str]]] = {
    "group-without-role": (NODE_GROUP, "test-workload", lambda g: g["labels"].pop("igz-clusters.io/role"), {"NG-01"}),
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
        {"NG-08"},
    ),
    "gpu-type-among-others": (
        NODE_GROUP,
        "test-workload",
        lambda g: g["instanceTypes"].append("g5.2xlarge"),
        {"NG-16", "NG-17"},
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
    "class-that-preempts": (
        PRIORITY_CLASS,
        "igz-workload-high",
        lambda c: c.update(preemptionPolicy="PreemptLowerPriority"),
        {"PR-03"},
    ),
    "low-above-high": (PRIORITY_CLASS, "igz-workload-low", lambda c: c.update(value=900), {"PR-02"}),
}


def judge(change: tuple[str, str, Callable[[Props], object]] | None = None) -> Any:
    recorder = deepcopy(built("prod"))
    if change:
        token, name, weaken = change
        weaken(recorder.of_type(token)[name])
    wire = Wire(stack={"environment": "prod", "profile": "mlrun-ce"})
    return wire.judge_stack([(r.type, r.name, r.inputs) for r in recorder.resources])


def test_a_stack_with_every_kind_of_pool_passes_every_rule_without_a_doubt() -> None:
    assert judge().outcome == {"expect": [], "advise": [], "unjudged": []}


def test_the_inputs_of_a_first_preview_are_enough_for_every_rule() -> None:
    """No identifier and nothing that AWS computes is known then; a rule that cannot tell fails in CI."""
    recorder = build({"environment": "prod"}, first_preview=True)
    assert UNKNOWN_STRING_VALUE in json.dumps(recorder.sent[NODE_GROUP, "test-workload"])
    wire = Wire(stack={"environment": "prod", "profile": "mlrun-ce"})
    report = wire.judge_stack([(token, name, inputs) for (token, name), inputs in recorder.sent.items()])
    assert report.outcome == {"expect": [], "advise": [], "unjudged": []}


@pytest.mark.parametrize("name", WEAKENINGS)
def test_a_weakened_default_trips_exactly_its_rules(name: str) -> None:
    token, resource, weaken, rules = WEAKENINGS[name]
    report = judge((token, resource, weaken))
    assert set(report.violated) | set(report.advised) == rules, report.messages
    assert report.unjudged == []
