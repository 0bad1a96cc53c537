"""What EKS is asked about each part, and what of its answers counts."""

from typing import Any

from support.eks import ADDON, CLUSTER, NODE_GROUP
from support.eks_state import components, urn
from workbench.engine.clouds.cluster_component import condition
from workbench.engine.clouds.eks.conditions import EksCondition as Condition
from workbench.engine.clouds.eks.conditions import conditions

ANSWERS: dict[str, dict[str, Any]] = {
    "describe_cluster": {"cluster": {"status": "UPDATING"}},
    "describe_nodegroup": {
        "nodegroup": {
            "status": "DEGRADED",
            "health": {"issues": [{"code": "AccessDenied", "message": "no rights", "resourceIds": ["i-1", "i-2"]}]},
        }
    },
}


def test_each_part_is_asked_for_by_its_own_name() -> None:
    asked = []

    def look_up(service: str, operation: str, **parameters: Any) -> dict[str, Any]:
        asked.append((service, operation, parameters))
        return ANSWERS.get(operation, {})

    found = conditions(components(), look_up)
    assert ("eks", "describe_cluster", {"name": "research"}) in asked
    assert ("eks", "describe_addon", {"clusterName": "research", "addonName": "coredns"}) in asked
    assert ("eks", "describe_nodegroup", {"clusterName": "research", "nodegroupName": "test-gpu-0a1b2c3"}) in asked
    assert len(asked) == len(components())
    assert found[urn(CLUSTER, "test-cluster")] == Condition("UPDATING")
    assert found[urn(NODE_GROUP, "test-gpu")] == Condition("DEGRADED", ("AccessDenied: no rights (i-1, i-2)",))
    assert found[urn(ADDON, "test-addons-coredns")] == Condition(""), "what is not there has no status"


def test_what_is_gone_is_not_waited_for_whatever_the_state_says() -> None:
    (part,) = (part for part in components({"test-gpu": {"status": "CREATING"}}) if part.logical_name == "test-gpu")
    assert condition(part, conditions([part], lambda *_, **__: {})).is_in_order


def test_eks_knows_better_than_the_state() -> None:
    (part,) = (part for part in components({"test-gpu": {"status": "CREATING"}}) if part.logical_name == "test-gpu")
    assert condition(part, {}) == Condition("CREATING")
    assert condition(part, {part.urn: Condition("ACTIVE")}).is_in_order
