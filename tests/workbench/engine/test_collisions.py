"""What a plan would make, and what of it is there."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from typing_extensions import override

from components.contract.ownership import FIELD_MANAGER
from workbench.engine.collisions import collisions, objects_to_create
from workbench.engine.kubectl import Api
from workbench.report.event_payloads import State, Step
from workbench.report.events import Stream

ROLE = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRole",
    "metadata": {"name": "igz-clusters:platform", "annotations": {"pulumi.com/patchForce": "true"}},
    "rules": [{"verbs": ["get"]}],
}
RATHER = {**ROLE, "metadata": {"name": ROLE["metadata"]["name"], "uid": "u"}, "rules": [{"verbs": ["*"]}]}
LIMITS = {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "default-resources", "namespace": "mlrun"}}
CUSTOM = {"apiVersion": "igz-clusters.io/v1", "kind": "PolicyParameters", "metadata": {"name": "cluster"}}


@dataclass(frozen=True)
class Objects(Api):
    """An API server that has these."""

    live: tuple[Mapping[str, Any], ...] = ()
    asked: list[Any] = field(default_factory=list)

    @override
    def run(self, *arguments: str, stdin: str | None = None) -> str:
        self.asked.extend(json.loads(stdin or "{}")["items"])
        return json.dumps({"kind": "List", "items": self.live}) if self.live else ""


def objects(*live: Mapping[str, Any]) -> Objects:
    return Objects(Path("kubectl"), None, {}, live=live)


def plan(*manifests: Mapping[str, Any], op: str = "create", suffix: str = "") -> Stream:
    stream = Stream()
    for each in manifests:
        token = f"kubernetes:{each['apiVersion']}:{each['kind']}{suffix}"
        urn = f"urn:pulumi:onprem::igz-clusters::{token}::{each['metadata']['name']}"
        new = State(urn=urn, custom=True, inputs=dict(each), outputs={})
        stream.steps.append(Step(op=op, urn=urn, type=token, old=None, new=new))
    return stream


def test_an_object_of_somebody_else_is_compared() -> None:
    (blocker,) = collisions(objects(RATHER), objects_to_create(plan(ROLE)), frozenset())
    assert blocker.where == "ClusterRole igz-clusters:platform"
    assert blocker.found == 'an object of another owner (rules[0].verbs[0] "*")'
    assert blocker.required == 'one of this stack (rules[0].verbs[0] "get")'


def test_one_that_says_the_same_is_somebody_elses_all_the_same() -> None:
    (blocker,) = collisions(objects({**RATHER, "rules": ROLE["rules"]}), objects_to_create(plan(ROLE)), frozenset())
    assert "with the same content" in blocker.found


@pytest.mark.parametrize(
    ("live", "made"),
    [
        ((), frozenset[str]()),
        ((RATHER,), frozenset({"u"})),
        (
            ({**RATHER, "metadata": {**RATHER["metadata"], "managedFields": [{"manager": FIELD_MANAGER}]}},),
            frozenset[str](),
        ),
        (
            (
                {
                    **RATHER,
                    "metadata": {
                        **RATHER["metadata"],
                        "managedFields": [
                            {"manager": FIELD_MANAGER},
                            {"manager": "validatingadmissionpolicy-status", "subresource": "status"},
                        ],
                    },
                },
            ),
            frozenset[str](),
        ),
    ],
    ids=["nothing is there", "the state knows it", "a killed run of ours made it", "a controller reported its status"],
)
def test_what_is_free_or_ours_is_no_collision(live: tuple[Mapping[str, Any], ...], made: frozenset[str]) -> None:
    assert collisions(objects(*live), objects_to_create(plan(ROLE)), made) == []


def test_only_what_a_plan_makes_is_asked_for_by_name_and_namespace() -> None:
    api = objects()
    stream = plan(LIMITS, CUSTOM)
    stream.steps += [*plan(ROLE, op="update").steps, *plan(ROLE, suffix="Patch").steps]
    assert collisions(api, objects_to_create(stream), frozenset()) == []
    assert api.asked == [
        {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "default-resources", "namespace": "mlrun"}}
    ]
