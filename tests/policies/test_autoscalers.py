from typing import Any

import pytest

from policies.resource import Resource, Stack
from policies.values import UNKNOWN, NotJudgeableError, Value
from policies.views.autoscalers import missing_for
from policies.views.node_groups import node_groups

GROUP = Resource("aws:eks/nodeGroup:NodeGroup", "workload", "urn:group", Value({}))
FLAG = "--node-group-auto-discovery=asg:tag="


def autoscaler(*arguments: Any, key: str = "command", name: str = "cluster-autoscaler") -> Resource:
    template = {"spec": {"containers": [{key: ["./cluster-autoscaler", *arguments]}]}}
    props = {"metadata": {"name": name}, "spec": {"template": template}}
    return Resource("kubernetes:apps/v1:Deployment", "scaler", "urn:scaler", Value(props))


def tag(key: Any, value: Any = "x", *, of: str = "urn:group") -> Resource:
    props = Value({"tag": {"key": key, "value": value}})
    return Resource(
        "aws:autoscaling/tag:Tag", f"{key}", f"urn:{key}", props, depends_on={"autoscalingGroupName": (of,)}
    )


def missing(*others: Resource) -> str | None:
    stack: Stack = [GROUP, *others]
    [group] = node_groups(GROUP)
    return missing_for(group, stack)


@pytest.mark.parametrize("key", ["command", "args"])
@pytest.mark.parametrize("wanted", ["k8s.io/cluster-autoscaler/enabled", "a=x", "a", "a,b=x"])
def test_an_autoscaler_finds_a_group_that_has_all_the_tags_it_looks_for(key: str, wanted: str) -> None:
    assert missing(autoscaler(FLAG + wanted, key=key), tag("a"), tag("b")) is None


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        ([], "a Deployment cluster-autoscaler"),
        ([autoscaler(FLAG + "a", name="other")], "a Deployment cluster-autoscaler"),
        ([autoscaler("--v=4")], "an autoscaler with the flag --node-group-auto-discovery"),
        ([autoscaler(FLAG + "a")], "the tag a of its Auto Scaling group"),
        ([autoscaler(FLAG + "a=y"), tag("a")], "the tag a=y of its Auto Scaling group"),
        ([autoscaler(FLAG + "a,b"), tag("a")], "the tag b of its Auto Scaling group"),
        ([autoscaler(FLAG + "a"), tag("a", of="urn:other")], "the tag a of its Auto Scaling group"),
    ],
)
def test_what_is_missing_is_named(others: list[Resource], expected: str) -> None:
    assert missing(*others) == expected


@pytest.mark.parametrize(
    "others",
    [
        [autoscaler(UNKNOWN)],
        [autoscaler(FLAG + "a", name=UNKNOWN)],
        [autoscaler(FLAG + "a"), tag(UNKNOWN)],
        [autoscaler(FLAG + "a=x"), tag("a", UNKNOWN)],
    ],
)
def test_what_is_not_known_yet_is_not_missing(others: list[Resource]) -> None:
    with pytest.raises(NotJudgeableError):
        missing(*others)
