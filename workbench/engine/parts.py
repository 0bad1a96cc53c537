"""The parts of an EKS cluster that have a life of their own, as a stack's state or a plan has them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from typing_extensions import override

from components.contract.labels import LabelKey
from components.contract.pools import PoolRole
from policies.views.node_groups.eks import NODE_GROUP
from workbench.report.events import STACK_TYPE, Stream

CLUSTER: Final = "aws:eks/cluster:Cluster"
ADDON: Final = "aws:eks/addon:Addon"
GROUP: Final = NODE_GROUP

NOUNS: Final = {CLUSTER: "cluster", ADDON: "add-on", GROUP: "node group"}
"""Types of parts, and how messages call them: control plane, add-ons, groups, in the order of an upgrade."""

_PROVIDER: Final = "pulumi:providers:kubernetes"


@dataclass(frozen=True)
class Part:
    """A cluster, an add-on or a node group.

    Parameters
    ----------
    urn, type
        Who it is in the state.
    inputs, outputs
        As they were read last: after a refresh, as they are live.
    """

    urn: str
    type: str
    inputs: Mapping[str, Any]
    outputs: Mapping[str, Any]

    @property
    def logical_name(self) -> str:
        """The program's name for it."""
        return self.urn.rpartition("::")[2]

    @property
    def cluster(self) -> str:
        """AWS's name of the cluster that it is, or is of."""
        return str(self._known("name" if self.type == CLUSTER else "clusterName"))

    @property
    def name(self) -> str:
        """AWS's name of it."""
        return str(self._known({CLUSTER: "name", ADDON: "addonName", GROUP: "nodeGroupName"}[self.type]))

    @property
    def status(self) -> str:
        """EKS's word for its condition when the state was read; empty where the provider keeps none: of add-ons."""
        return str(self.outputs.get("status") or "")

    @property
    def version(self) -> str:
        """Minor version of Kubernetes, such as ``1.35``; empty if it is not known."""
        return str(self.outputs.get("version") or "")

    @property
    def holds_data(self) -> bool:
        """Whether it is a group of a data pool: nobody may make it anew but on purpose."""
        return (self.inputs.get("labels") or {}).get(LabelKey.ROLE.value) == PoolRole.DATA.value

    @property
    def sizes(self) -> Mapping[str, Any]:
        """``minSize``, ``maxSize`` and ``desiredSize`` of a node group; empty if they are not known."""
        return self.outputs.get("scalingConfig") or self.inputs.get("scalingConfig") or {}

    @override
    def __str__(self) -> str:
        """Return noun and AWS's name."""
        return f"{NOUNS[self.type]} {self.name}"

    def _known(self, key: str) -> Any:
        return self.outputs.get(key) or self.inputs.get(key) or self.logical_name


def _ordered(parts: Iterable[Part]) -> list[Part]:
    # A state keeps the order in which resources happened to be done.
    return sorted(parts, key=lambda part: (list(NOUNS).index(part.type), part.urn))


def parts_of_state(deployment: Mapping[str, Any]) -> list[Part]:
    """Return the parts in an exported deployment, without those that a replacement has still to delete."""
    return _ordered(
        Part(each["urn"], each["type"], each.get("inputs") or {}, each.get("outputs") or {})
        for each in deployment.get("resources") or ()
        if each["type"] in NOUNS and not each.get("delete")
    )


def parts_of_plan(stream: Stream) -> list[Part]:
    """Return the parts that a plan starts from: what its refresh found, before any change."""
    found = {
        step.urn: Part(step.urn, step.token, step.old.inputs, step.old.outputs)
        for step in stream.steps
        if step.token in NOUNS and step.old and not step.old.delete and step.op != "refresh"
    }
    return _ordered(found.values())


def cluster_of(parts: Iterable[Part]) -> Part | None:
    """Return the cluster among the parts; None if there is none (yet)."""
    return next((part for part in parts if part.type == CLUSTER), None)


def kubeconfig_of(deployment: Mapping[str, Any]) -> str | None:
    """Return the way into the cluster: the stack's own output, else what its Kubernetes provider was given.

    None if the stack never came so far as to know it. It holds no secret.
    """
    resources = deployment.get("resources") or ()
    found = [
        *(each.get("outputs") or {} for each in resources if each["type"] == STACK_TYPE),
        *(each.get("inputs") or {} for each in resources if each["type"] == _PROVIDER),
    ]
    return next((text for known in found if isinstance(text := known.get("kubeconfig"), str) and text), None)
