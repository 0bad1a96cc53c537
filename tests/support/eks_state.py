"""States of an EKS stack as a finished `up` leaves them: what the program declares, and what EKS adds to it."""

from copy import deepcopy
from dataclasses import replace
from functools import lru_cache
from typing import Any

from support.eks import ADDON, CLUSTER, NODE_GROUP, build, built
from support.recorder import Recorder
from workbench.engine.clouds.part import Part
from workbench.engine.parts import parts_of_state
from workbench.report.events import STACK_TYPE

STACK = "test"
"""The name under which the recorder runs programs."""

Live = dict[str, dict[str, Any]]
"""What differs from the program in a resource's outputs, by its logical name."""


def urn(type_: str, name: str) -> str:
    return f"urn:pulumi:{STACK}::igz-clusters::{type_}::{name}"


def exported(changes: dict[str, Any] | None = None, live: Live | None = None) -> dict[str, Any]:
    """Return the deployment of the stack with ``changes``, after a refresh found ``live``."""
    recorder = build(changes) if changes else built()
    resources = [_resource(recorder, each.type, each.name, each.inputs, live or {}) for each in recorder.resources]
    outputs = {"kubeconfig": recorder.exports["kubeconfig"]}
    return {"resources": [{"urn": urn(STACK_TYPE, "stack"), "type": STACK_TYPE, "outputs": outputs}, *resources]}


@lru_cache(maxsize=1)
def _parts() -> tuple[Part, ...]:
    return tuple(parts_of_state(exported()))


def parts(live: Live | None = None) -> list[Part]:
    """Return the parts of the unchanged stack, of which ``live`` differs. Quick, for tests with many examples."""
    differs = live or {}
    return [
        replace(part, outputs={**part.outputs, **differs[part.logical_name]}) if part.logical_name in differs else part
        for part in _parts()
    ]


def _resource(recorder: Recorder, type_: str, name: str, inputs: dict[str, Any], live: Live) -> dict[str, Any]:
    options = recorder.options.get((type_, name))
    outputs = {**deepcopy(inputs), **_added(type_, name, recorder), **live.get(name, {})}
    return {
        "urn": urn(type_, name),
        "type": type_,
        "custom": True,
        "inputs": deepcopy(inputs),
        "outputs": outputs,
        "protect": bool(options and options.protect),
        "retainOnDelete": bool(options and options.retain_on_delete),
    }


def _added(type_: str, name: str, recorder: Recorder) -> dict[str, Any]:
    version = next(iter(recorder.of_type(CLUSTER).values()))["version"]
    return {
        CLUSTER: {"status": "ACTIVE"},
        NODE_GROUP: {"status": "ACTIVE", "version": version, "nodeGroupName": f"{name}-0a1b2c3"},
        ADDON: {"addonVersion": "v1.0.0-eksbuild.1"},
    }.get(type_, {})
