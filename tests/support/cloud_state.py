"""States of a stack in a cloud as a finished `up` leaves them: what the program declares, and what the cloud adds."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from support.recorder import Recorder
from workbench.report.events import STACK_TYPE

STACK = "test"
"""The name under which the recorder runs programs."""

Live: TypeAlias = dict[str, dict[str, Any]]
"""What differs from the program in a resource's outputs, by its logical name."""

Added: TypeAlias = Callable[[str, str, dict[str, Any]], dict[str, Any]]
"""Returns the outputs that the cloud adds to a type, a logical name and its inputs."""


@dataclass(frozen=True)
class Resource:
    """One resource that exists in a cloud, as a state knows it."""

    urn: str
    type: str
    inputs: dict[str, Any]
    id: str
    outputs: dict[str, Any] = field(default_factory=dict)

    @property
    def state(self) -> dict[str, Any]:
        """The resource in a deployment."""
        return {**self._declared, "id": self.id, "outputs": self.outputs}

    @property
    def pending(self) -> dict[str, Any]:
        """The operation that a run which is killed now leaves."""
        return {"type": "creating", "resource": self._declared}

    @property
    def _declared(self) -> dict[str, Any]:
        return {"urn": self.urn, "type": self.type, "custom": True, "inputs": self.inputs}


def urn(type_: str, name: str) -> str:
    return f"urn:pulumi:{STACK}::igz-clusters::{type_}::{name}"


def deployment(recorder: Recorder, live: Live, added: Added) -> dict[str, Any]:
    """Return the deployment of what a program declared, after a refresh found ``live``."""
    resources = []
    for each in recorder.resources:
        options = recorder.options.get((each.type, each.name))
        outputs = {**deepcopy(each.inputs), **added(each.type, each.name, each.inputs), **live.get(each.name, {})}
        resources.append(
            {
                "urn": urn(each.type, each.name),
                "type": each.type,
                "id": f"{each.name}-id",
                "custom": True,
                "inputs": deepcopy(each.inputs),
                "outputs": outputs,
                "protect": bool(options and options.protect),
                "retainOnDelete": bool(options and options.retain_on_delete),
            }
        )
    outputs = {name: recorder.exports[name] for name in ("cluster", "kubeconfig")}
    return {"resources": [{"urn": urn(STACK_TYPE, "stack"), "type": STACK_TYPE, "outputs": outputs}, *resources]}
