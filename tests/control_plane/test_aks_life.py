"""The whole life of the AKS stacks on the Azure emulator: made, again, moved by the autoscaler, and gone."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import pytest

from components.contract.labels import LabelKey
from emulators.core.client import Call
from support.azure_emulator import Subscription, identities, there, writes

pytestmark = [pytest.mark.control_plane, pytest.mark.full]  # `make test` has the life on EKS

STACK: Final = "aks-dev"
LIVE: Final = 7
"""Nodes to which the autoscaler moves the pool ``workload``."""


@dataclass
class Life:
    """What was seen of a stack from its first `up` to its `destroy`."""

    made: list[Call]
    objects: set[str]
    equal: tuple[set[str], set[str]]
    again: list[Call]
    again_said: str
    spot: list[dict[str, Any]]
    moved: list[Call]
    count_after: int
    gone: list[Call] = field(default_factory=list)
    left: set[str] = field(default_factory=set)


@pytest.fixture(scope="module")
def life(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Life]:
    with Subscription.opened(tmp_path_factory.mktemp("aks"), STACK, is_quick=True) as azure:

        def calls_of(*command: str) -> list[Call]:
            last = azure.last
            azure.run(*command, STACK, "--hermetic", "--yes")
            return writes(azure.azure.calls(last))

        azure.edit(STACK, policyGuard="off")  # it would plan a destroy first
        made = calls_of("up")
        objects, equal, spot = (
            azure.objects(),
            identities(azure, STACK),
            [each["properties"] for each in azure.agent_pools("spot")],
        )
        last = azure.last
        again_said = azure.run("up", STACK, "--hermetic", "--yes").stdout
        again = writes(azure.azure.calls(last))
        azure.move("workload", LIVE)
        azure.edit(
            STACK, pools__workload__size={"min": 2, "max": 12}, pools__workload__labels={"example.com/team": "ml"}
        )
        lived = Life(made, objects, equal, again, again_said, spot, calls_of("up"), 0)
        lived.count_after = azure.agent_pools("workload")[0]["properties"]["count"]
        lived.gone = calls_of("destroy")
        lived.left = there(azure)
        yield lived


def test_up_makes_what_the_state_says_in_azure_and_in_the_cluster(life: Life) -> None:
    in_state, in_azure = life.equal
    assert in_state == in_azure
    assert {"PriorityClass igz-workload-low", "PriorityClass igz-workload-medium", "Namespace mlrun"} <= life.objects


def test_a_second_up_changes_nothing_though_azure_added_label_and_taint_to_spot_nodes(life: Life) -> None:
    assert len(life.spot) == 3  # one a type
    for spot in life.spot:
        assert spot["nodeTaints"] == ["kubernetes.azure.com/scalesetpriority=spot:NoSchedule"]
        assert spot["nodeLabels"]["kubernetes.azure.com/scalesetpriority"] == "spot"
        assert spot["nodeLabels"][LabelKey.LIFECYCLE.value] == "preemptible"
    assert life.again == []
    assert "unchanged" in life.again_said


def test_no_write_is_refused_and_pools_are_written_one_after_the_other(life: Life) -> None:
    assert [(call.operation, call.code) for call in (*life.made, *life.moved, *life.gone) if call.code] == []
    pools = [call for call in life.made if "/agentpools/" in call.about.lower()]
    assert len(pools) > 3


def test_a_change_of_bounds_sends_the_size_that_the_autoscaler_chose(life: Life) -> None:
    sent = [
        call.params["body"]["properties"]["count"]
        for call in life.moved
        if "/agentpools/workload" in call.about.lower()
    ]
    assert sent == [LIVE]
    assert life.count_after == LIVE


def test_destroy_leaves_nothing(life: Life) -> None:
    assert life.left == set()
