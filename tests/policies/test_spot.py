"""Whether a pod may run on spot nodes, read from its selector, affinity and tolerations."""

from typing import Any

import pytest

from components.contract.taints import AKS_SPOT_TAINT, OWN_SPOT_TAINT, TaintEffect
from policies.resource import Resource
from policies.values import UNKNOWN, NotJudgeableError, Value
from policies.views.pods import PodFacts
from policies.views.spot import makers, may_run_on_spot, tolerates

KEY = "app.iguazio.com/lifecycle"


def pod(metadata: Any = None, **spec: Any) -> PodFacts:
    resource = Resource("kubernetes:core/v1:Pod", "thing", "urn", Value({}))
    return PodFacts(resource, Value(metadata or {}), Value(spec, "spec"))


def affinity(*terms: list[dict[str, Any]]) -> dict[str, Any]:
    required = {"nodeSelectorTerms": [{"matchExpressions": expressions} for expressions in terms]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}


ON_SPOT = {"key": KEY, "operator": "In", "values": ["preemptible"]}
OFF_SPOT = {"key": KEY, "operator": "NotIn", "values": ["preemptible"]}
ON_DEMAND = {"key": KEY, "operator": "In", "values": ["non-preemptible"]}
TEAM = {"key": "team", "operator": "Exists"}
TOLERATED = [OWN_SPOT_TAINT.toleration()]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, False),
        ({"nodeSelector": {KEY: "preemptible"}}, True),
        ({"nodeSelector": {KEY: "non-preemptible"}, "tolerations": TOLERATED}, False),
        ({"nodeSelector": {"team": "a"}, "tolerations": TOLERATED}, True),
        ({"tolerations": [AKS_SPOT_TAINT.toleration()]}, True),
        ({"affinity": affinity([ON_SPOT])}, True),
        ({"affinity": affinity([TEAM], [ON_SPOT])}, True),
        ({"affinity": affinity([OFF_SPOT]), "tolerations": TOLERATED}, False),
        ({"affinity": affinity([ON_DEMAND, TEAM]), "tolerations": TOLERATED}, False),
        ({"affinity": affinity([OFF_SPOT], [TEAM]), "tolerations": TOLERATED}, True),
        ({"affinity": affinity([TEAM]), "tolerations": TOLERATED}, True),
    ],
)
def test_selector_decides_before_affinity_and_affinity_before_tolerations(spec: dict[str, Any], expected: bool) -> None:
    assert may_run_on_spot(pod(**spec)) is expected


@pytest.mark.parametrize("spec", [{"nodeSelector": UNKNOWN}, {"tolerations": UNKNOWN}, {"affinity": UNKNOWN}])
def test_what_is_not_known_yet_is_not_guessed(spec: dict[str, Any]) -> None:
    with pytest.raises(NotJudgeableError):
        may_run_on_spot(pod(**spec))


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (OWN_SPOT_TAINT.toleration(), True),
        ({"operator": "Exists"}, True),
        ({"key": KEY, "operator": "Exists"}, True),
        ({"key": KEY, "value": "preemptible"}, True),
        ({"key": KEY, "value": "preemptible", "effect": TaintEffect.NO_EXECUTE.value}, False),
        ({"key": KEY, "operator": "Equal", "value": "non-preemptible"}, False),
        ({"key": "other", "operator": "Exists"}, False),
        ({"key": "", "operator": "Equal", "value": "preemptible"}, False),
    ],
)
def test_a_toleration_answers_a_taint_as_the_scheduler_has_it(entry: dict[str, str], expected: bool) -> None:
    assert tolerates(Value(entry), OWN_SPOT_TAINT) is expected


def test_the_makers_of_a_pod_are_its_own_kind_and_its_owners() -> None:
    assert makers(pod()) == {"Pod"}
    assert makers(pod({"ownerReferences": [{"kind": "ReplicaSet"}]})) == {"Pod", "ReplicaSet"}
