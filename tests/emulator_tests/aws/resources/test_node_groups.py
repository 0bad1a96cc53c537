"""What the real plug-in sends of a node group, whole objects and differences, and what it reads."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from emulators.aws.client import Emulator
from support.aws_resources import Stack
from support.minors import CHOSEN
from workbench.offline.provider import Existing


@pytest.fixture
def group(stack: Stack) -> Existing:
    _, subnets = stack.network()
    return stack.group(stack.cluster(subnets), subnets)


def orders(aws: Emulator, after: int) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the changes that AWS was asked for, without what names the group."""
    names = ("clusterName", "nodegroupName", "clientRequestToken", "name")
    asked = [call for call in aws.calls(after) if call.operation.startswith("eks:Update")]
    return [(call.operation, {n: v for n, v in call.params.items() if n not in names}) for call in asked]


def moved(stack: Stack, aws: Emulator, group: Existing, size: int) -> Existing:
    """Let the autoscaler give a group another size, and refresh it as the engine does."""
    aws.move(group.outputs["resources"][0]["autoscalingGroups"][0]["name"], size)
    found = stack.provider.read(group)
    assert found
    refreshed = replace(group, inputs=found.inputs, outputs=found.outputs)
    stack.made[stack.made.index(group)] = refreshed
    return refreshed


def test_the_autoscalers_size_is_read_as_an_input(stack: Stack, aws: Emulator, group: Existing) -> None:
    refreshed = moved(stack, aws, group, 4)
    assert refreshed.inputs["scalingConfig"] == {"minSize": 1, "maxSize": 5, "desiredSize": 4}
    assert {n for n, v in refreshed.inputs.items() if v != group.inputs[n]} == {"scalingConfig"}


def test_another_maximum_sends_the_whole_object_with_the_planned_size(
    stack: Stack, aws: Emulator, group: Existing
) -> None:
    start = aws.calls()[-1].number
    stack.change(group, scalingConfig={"minSize": 1, "maxSize": 6, "desiredSize": 2})
    whole = {"scalingConfig": {"minSize": 1, "maxSize": 6, "desiredSize": 2}}
    assert orders(aws, start) == [("eks:UpdateNodegroupConfig", whole)]


def test_a_size_that_was_not_refreshed_drains_a_group_as_with_the_real_plug_in(
    stack: Stack, aws: Emulator, group: Existing
) -> None:
    moved(stack, aws, group, 5)
    found = stack.provider.read(group)
    assert found
    # The program still says two, and no option of the engine keeps the live size.
    stack.made[-1] = replace(group, inputs=found.inputs, outputs=found.outputs)
    changed = stack.change(stack.made[-1], scalingConfig={"minSize": 1, "maxSize": 6, "desiredSize": 2})
    assert changed.outputs["scalingConfig"]["desiredSize"] == 2


def test_labels_and_taints_are_sent_as_differences_and_what_stays_is_not(
    stack: Stack, aws: Emulator, group: Existing
) -> None:
    start = aws.calls()[-1].number
    stack.change(group, labels={"a": "2", "c": "3"}, taints=[{"key": "k", "value": "w", "effect": "NO_SCHEDULE"}])
    assert orders(aws, start) == [
        (
            "eks:UpdateNodegroupConfig",
            {
                "labels": {"addOrUpdateLabels": {"a": "2", "c": "3"}, "removeLabels": ["b"]},
                "taints": {"addOrUpdateTaints": [{"key": "k", "value": "w", "effect": "NO_SCHEDULE"}]},
            },
        )
    ]


def test_a_version_goes_before_the_rest_with_the_launch_template(stack: Stack, aws: Emulator) -> None:
    _, subnets = stack.network()
    cluster = stack.cluster(subnets)
    group = stack.group(cluster, subnets)
    stack.change(cluster, version=CHOSEN)
    start = aws.calls()[-1].number
    stack.change(group, version=CHOSEN, updateConfig={"maxUnavailable": 1})
    (first, version), (second, config) = orders(aws, start)
    assert (first, second) == ("eks:UpdateNodegroupVersion", "eks:UpdateNodegroupConfig")
    assert version == {"version": CHOSEN, "launchTemplate": group.inputs["launchTemplate"], "force": False}
    assert config == {"updateConfig": {"maxUnavailable": 1}}


def test_no_change_asks_aws_for_nothing(stack: Stack, aws: Emulator, group: Existing) -> None:
    start = aws.calls()[-1].number
    stack.change(group)
    assert {call.operation for call in aws.calls(start)} == {"eks:DescribeNodegroup"}


def test_what_somebody_else_changed_is_drift_as_far_as_the_program_speaks_of_it(
    stack: Stack, aws: Emulator, group: Existing
) -> None:
    cluster, _, name = group.id.partition(":")
    aws.api("eks").update_nodegroup_config(
        clusterName=cluster, nodegroupName=name, labels={"addOrUpdateLabels": {"theirs": "1"}}
    )
    aws.api("eks").tag_resource(resourceArn=group.outputs["arn"], tags={"theirs": "1"})
    found = stack.provider.read(group)
    assert found
    assert found.inputs["labels"] == {"a": "1", "b": "2", "theirs": "1"}
    assert found.inputs["tagsAll"] == {"team": "ml", "theirs": "1"}
    assert "tags" not in found.inputs
