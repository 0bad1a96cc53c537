"""Gangs: MPI jobs whose workers all start together: if one does not fit, all of them wait."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from components.contract.gpus import WHOLE_GPUS
from components.contract.groups import NodeGroup

POLICY_NAME: Final = "igz-gangs"
"""Name of the admission policy, and of its binding."""

_WORKER: Final = "dyn(object).spec.?mpiReplicaSpecs.?Worker"
"""The workers in ``v1`` and ``v2beta1``: kubeflow/mpi-operator v0.7.0, ``pkg/apis/kubeflow/v2beta1/types.go``."""

NEEDS_ALL_WORKERS: Final = "!dyn(object).spec.?runPolicy.?schedulingPolicy.?minAvailable.hasValue()"
"""Whether a job starts only with all its workers: ``SchedulingPolicy`` in the same file."""

_EACH: Final = (
    # In a custom resource a quantity may be a number or a text, as its author wrote it.
    "variables.containers.map(c, string(c.?resources.?limits[?gpu].orValue(dyn('0'))))"
    ".filter(q, isQuantity(q) && quantity(q).isInteger()).map(q, quantity(q).asInteger()).sum()"
)
"""GPUs of one worker."""

_ROOM: Final = "variables.nodes[need.gpu].map(n, int(n[0] / need.each * n[1])).sum()"
"""Workers that fit on all nodes of all pools. A worker cannot use GPUs of two nodes."""


@dataclass(frozen=True, kw_only=True)
class GpuRoom:
    """GPUs that the pools of user work have at their maximum size."""

    nodes: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    """GPUs of a node and greatest number of such nodes, for each node group, by name of the GPU."""
    shown: dict[str, str] = field(default_factory=dict)
    """The same as readable text, by name of the GPU."""

    @property
    def variables(self) -> dict[str, str]:
        """Variables of the policy in CEL; each may use those before it. ``violations`` is a list of texts."""
        return {
            "nodes": json.dumps(self.nodes),  # a map in JSON is one in CEL
            "shown": json.dumps(self.shown),
            "replicas": f"int({_WORKER}.?replicas.orValue(1))",
            "containers": f"{_WORKER}.?template.?spec.?containers.orValue([])",
            "needs": f"variables.nodes.map(gpu, {{'gpu': dyn(gpu), 'each': dyn({_EACH})}}).filter(need, need.each > 0)",
            "violations": f"variables.needs.filter(need, variables.replicas > {_ROOM}).map(need, {_TEXT})",
        }


_TEXT: Final = (
    "string(variables.replicas) + ' workers with ' + string(need.each) + ' ' + string(need.gpu) + ' each run only"
    f" together, and the pools hold at most ' + string({_ROOM}) + ' (' + string(variables.shown[need.gpu]) + ')'"
)

MESSAGE: Final = "the workers of the MPI job need more GPUs than the pools can have"
"""Message of a rejection if the list is too long."""

MESSAGE_EXPRESSION: Final = (
    "'the MPI job would wait forever: ' + variables.violations.join('; ') + '. Lower the replicas or the GPUs of its"
    " workers, or raise size.max of a pool in the stack file'"
)
"""Expression for the message of a rejection."""


def gpu_room(groups: Iterable[NodeGroup]) -> GpuRoom:
    """Return the GPUs of the groups of user work.

    GPUs with a custom name are left out: such a name may mean a part of a GPU, and a node may have more of these than
    its machine type has GPUs. Shares of a pool with ``sharing`` are counted, because their number is known.
    """
    room = GpuRoom()
    for group in groups:
        for name, each in group.devices.items() if group.holds_user_work else ():
            if name not in WHOLE_GPUS and not group.sharing:
                continue
            room.nodes.setdefault(name, []).append((each, group.size.max))
            known = room.shown.get(name)
            text = f"{group.name}: {group.size.max} nodes with {each}"
            room.shown[name] = f"{known}, {text}" if known else text
    return room
