"""A pool keeps room for work that has not come, with the real scheduler and the real autoscaler."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from components.contract.headroom import HEADROOM
from components.contract.labels import LabelKey
from support.cluster import eventually, holds_for
from support.rehearsal_stacks import POOLS, stack_file
from workbench.local import Instance
from workbench.offline.declared import declared

pytestmark = [pytest.mark.control_plane, pytest.mark.full]

KINDS: Final = ("Namespace", "PriorityClass", "ConfigMap", "Deployment")
"""Of what the stack declares, in the order in which it can be made; quotas, policies and static nodes are not about
room."""

ONE_NODE: Final = {**POOLS["work"], "size": {"min": 0, "max": 3}, "headroom": {"pods": 1, "cpu": "6", "memory": "8Gi"}}
"""Two such pods do not fit on a node of 8 vCPUs."""


def job(name: str, pool: str = "work", **spec: Any) -> dict[str, Any]:
    container = {"name": "main", "image": "example.invalid/image:1", "resources": {"requests": {"cpu": "6"}}}
    pod = {
        "nodeSelector": {LabelKey.POOL.value: pool},
        "priorityClassName": "igz-workload-low",
        "containers": [container],
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {**pod, **spec}}


def declared_by(folder: Path, pool: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the objects of a stack with the pool ``work``."""
    stack = stack_file(folder, pools={"initial": POOLS["initial"], "work": pool})
    objects = declared(stack, {}).objects
    return [each for kind in KINDS for each in objects if each["kind"] == kind]


def test_work_starts_on_the_headroom_at_once_and_the_pool_grows_again_behind_it(
    own: Instance,
    tmp_path: Path,
    kubectl: Callable[..., str],
    apply: Callable[..., None],
    get: Callable[..., Any],
) -> None:
    # One story: each step needs the nodes of the step before.
    def nodes() -> set[str]:
        return {each["metadata"]["name"] for each in get(own, "nodes", "-l", f"{LabelKey.POOL}=work")["items"]}

    def placeholders() -> dict[str, str]:
        items = get(own, "pods", "-n", HEADROOM)["items"]
        return {each["metadata"]["uid"]: each["spec"].get("nodeName", "") for each in items}

    def node_of(name: str) -> str:
        found: str = get(own, "pod", name)["spec"].get("nodeName", "")
        return found

    apply(own, *declared_by(tmp_path, ONE_NODE))
    eventually(lambda: len(nodes()) == 1)  # no work, and yet a node
    first, kept = nodes(), eventually(placeholders)
    assert list(kept.values()) == [""]
    holds_for(lambda: nodes() == first, seconds=25)  # idle nodes go after 10 s here

    apply(own, job("early"))
    assert {eventually(lambda: node_of("early"))} == first  # it waited for no node
    eventually(lambda: len(nodes()) == 2)  # and there is room for the next one again
    assert placeholders() == kept  # nothing was evicted

    apply(own, job("next"), job("last"))  # more than there is room for: the pool reaches its maximum
    eventually(lambda: node_of("next") and node_of("last"))
    assert len(nodes()) == 3
    assert placeholders() == kept

    kubectl(own, "delete", "pod", "early", "next", "last", "--grace-period=0", "--force")
    eventually(lambda: len(nodes()) == 1)  # back to the headroom, and no further
    holds_for(lambda: len(nodes()) == 1, seconds=15)

    kubectl(own, "delete", "deployment", "work", "-n", HEADROOM)
    eventually(lambda: not nodes())


def test_a_placeholder_that_a_scheduler_places_keeps_out_the_work_that_it_is_for(
    own: Instance, tmp_path: Path, apply: Callable[..., None], kubectl: Callable[..., str], get: Callable[..., Any]
) -> None:
    # Why placeholders are not placed: user classes never preempt, not even a lower class.
    below = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "below"}, "value": -1}
    apply(own, below, *declared_by(tmp_path, {**POOLS["work"], "size": {"min": 0, "max": 1}}))

    def is_placed(name: str) -> bool:
        return "nodeName" in get(own, "pod", name)["spec"]

    apply(own, job("placed", priorityClassName="below"))
    eventually(lambda: is_placed("placed"))
    apply(own, job("kept-out"))
    holds_for(lambda: not is_placed("kept-out") and is_placed("placed"), seconds=10)
    apply(own, job("evicts", priorityClassName="igz-system-medium"))
    eventually(lambda: is_placed("evicts"))  # what a class may do that preempts
    kubectl(own, "delete", "pod", "kept-out", "evicts", "--grace-period=0", "--force")
