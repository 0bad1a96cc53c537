"""Single entries of a node's taints, changed on the version that was read."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typing_extensions import override

from components.contract.taints import Taint, TaintEffect, gpu_taint
from workbench.engine.kubectl import Api
from workbench.existing.taints import as_text, perform
from workbench.system.errors import UserError

GPU = gpu_taint("nvidia.com/gpu")
OTHERS = st.lists(
    st.builds(
        Taint,
        st.sampled_from(["second", "node.kubernetes.io/not-ready", "dedicated"]),
        st.sampled_from(["", "x"]),
        st.sampled_from(list(TaintEffect)),
    ),
    unique_by=lambda taint: (taint.key, taint.effect),
    max_size=4,
)


@dataclass(frozen=True)
class OneNode(Api):
    """An API server with one node; others may be faster than we."""

    node: dict[str, Any] = field(default_factory=dict)
    meanwhile: list[Callable[[dict[str, Any]], object]] = field(default_factory=list)

    @override
    def run(self, *arguments: str, stdin: str | None = None) -> str:
        if arguments[0] == "get":
            text = json.dumps(self.node)
            if self.meanwhile:
                self.meanwhile.pop(0)(self.node)
                self._move()
            return text
        (test, *changes) = json.loads(arguments[-1])
        if test["value"] != self.node["metadata"]["resourceVersion"]:
            raise UserError("The cluster does not answer: the server rejected our request: testing value failed")
        for change in changes:
            *parents, last = [part.replace("~1", "/").replace("~0", "~") for part in change["path"].split("/")[1:]]
            here = self.node
            for parent in parents:
                here = here[parent]
            if change["op"] == "remove":
                del here[last]
            else:
                here[last] = change["value"]
        self._move()
        return ""

    def _move(self) -> None:
        self.node["metadata"]["resourceVersion"] += "1"

    @property
    def taints(self) -> list[str]:
        return [as_text(taint) for taint in self.node["spec"].get("taints", [])]


def one_node(*taints: Taint, meanwhile: list[Callable[[dict[str, Any]], object]] | None = None) -> OneNode:
    metadata = {"name": "n", "resourceVersion": "1"}
    spec = {"taints": [taint.to_kubernetes() for taint in taints]} if taints else {}
    node = {"kind": "Node", "metadata": metadata, "spec": spec}
    return OneNode(Path("kubectl"), None, {}, node=node, meanwhile=meanwhile or [])


@settings(deadline=None)
@given(others=OTHERS)
def test_others_taints_are_the_same_after_ours_came_and_went(others: list[Taint]) -> None:
    api = one_node(*others)
    before = api.taints
    assert perform(api, "n", [GPU]).added == (str(GPU),)
    assert api.taints == [*before, str(GPU)]
    assert not perform(api, "n", [GPU]).added
    assert perform(api, "n", ()).removed == (str(GPU),)
    assert api.taints == before
    assert api.node["metadata"].get("annotations", {}) == {}


def test_a_taint_that_was_there_is_not_ours_and_stays() -> None:
    api = one_node(GPU)
    assert not perform(api, "n", [GPU]).added
    assert not perform(api, "n", ()).removed
    assert api.taints == [str(GPU)]


def test_what_others_change_in_between_is_read_again() -> None:
    late = Taint("node.kubernetes.io/not-ready", "", TaintEffect.NO_EXECUTE)
    api = one_node(meanwhile=[lambda node: node["spec"].update(taints=[late.to_kubernetes()])])
    perform(api, "n", [GPU])
    assert api.taints == ["node.kubernetes.io/not-ready:NoExecute", str(GPU)]


def test_a_node_that_never_rests_is_given_up() -> None:
    api = one_node(meanwhile=[lambda _: None] * 9)
    with pytest.raises(UserError, match="was modified during each of"):
        perform(api, "n", [GPU])
    assert api.taints == []


def test_a_taint_in_the_place_of_ours_is_not_overwritten() -> None:
    api = one_node(Taint("nvidia.com/gpu", "true"))
    with pytest.raises(UserError, match="gpu=true:NoSchedule of another owner"):
        perform(api, "n", [GPU])
    assert api.taints == ["nvidia.com/gpu=true:NoSchedule"]
