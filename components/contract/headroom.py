"""Headroom: room that an elastic pool keeps free for future pods.

Placeholder pods request the room. No scheduler places them, so they never occupy it: only the autoscaler counts them,
and adds nodes as soon as they would no longer fit next to the running pods
(docs/decisions/0032-placeholders-without-a-scheduler.md).
"""

import math
from decimal import Decimal
from typing import Annotated, Any, Final, TypeAlias

from pydantic import AfterValidator, Field

from components.contract.allocatable import Reserves
from components.contract.choices import ContractModel, Explained, Findings
from components.contract.gpus import TURNS
from components.contract.instances import InstanceType
from components.contract.pool_rules import require_growth
from components.contract.quantities import Quantity, parse_quantity, within
from components.contract.roles import PoolRole

HEADROOM: Final = "igz-headroom"
"""Name of the placeholders' priority class, of their namespace and of the scheduler that they wait for.

No scheduler has the name. ``BYPASSED_FLAG`` contains it.
"""

PRIORITY: Final = -1
"""Priority of the placeholders: below every user class, and below pods without a class, which have 0.

The autoscaler gives room to pods of higher priority first (kubernetes/autoscaler 1959f5f6,
``core/podlistprocessor/filter_out_schedulable.go``).
"""

PRIORITY_MIN: Final = -10
"""Lowest priority for which the autoscaler adds nodes: its default of ``expendable-pods-priority-cutoff``."""

BYPASSED_FLAG: Final = "bypassed-scheduler-names"
"""Flag of the autoscaler: schedulers for whose pods it adds nodes before they have tried to place them.

It also ends the autoscaler's own wait of 2 s, or 30 s for GPUs, before it adds nodes for any pod. All releases that a
stack file may choose have it: kubernetes/autoscaler 1959f5f6, ``config/flags/flags.go``, and
``SchedulerUnprocessedPods`` in ``utils/kubernetes/listers.go``.
"""

PODS_MAX: Final = 50
"""Maximum number of pods for which a pool keeps room; for more, raise ``size.min``."""

DAEMONS_MILLIS: Final = 400
DAEMONS_MIB: Final = 512
"""CPU and memory of a node that the cluster's DaemonSets use, such as the CNI, kube-proxy and CSI drivers: assumed,
a little more than ``workbench/rehearsal/cluster/loads.yaml`` lists."""

_MIB: Final = 2**20
_CPU: Final = within("10m", "1k")
_MEMORY: Final = within("1Mi", "32Ti")


class Headroom(ContractModel):
    """Room for some pods of one size."""

    pods: Annotated[int, Explained(decides="How many placeholder pods the autoscaler finds room for.")] = Field(
        ge=1, le=PODS_MAX, strict=True, description="Number of pods that must start without a new node.", examples=[2]
    )
    cpu: Annotated[Quantity, AfterValidator(_CPU), Explained(decides="CPU request of each placeholder.")] = Field(
        description="Cores that one of the pods requests.", examples=["3"]
    )
    memory: Annotated[Quantity, AfterValidator(_MEMORY), Explained(decides="Memory request of each placeholder.")] = (
        Field(description="Memory that one of the pods requests.", examples=["12Gi"])
    )
    gpus: Annotated[int, Explained("Most pods request none.", "GPU request of each placeholder.")] = Field(
        0, ge=0, strict=True, description="GPUs that one of the pods requests; in pools of role gpu only.", examples=[1]
    )

    def require_fit(self, pool: dict[str, Any]) -> None:
        """Refuse headroom that its pool cannot keep.

        Parameters
        ----------
        pool
            The pool's valid choices, by name.

        Raises
        ------
        ValueError
            The pool never grows.
        """
        require_growth(pool, "it keeps no room")
        role = pool.get("role")
        if pool.get("office_hours"):
            raise ValueError("keeps nodes at night, which officeHours would remove; remove one of the two")
        findings = Findings()
        if role is PoolRole.GPU and not self.gpus:
            findings.add("PL-06: must be at least 1 in a pool of role 'gpu', where no other pods run", "gpus", given=0)
        elif role not in (PoolRole.GPU, None) and self.gpus:
            findings.add("NG-16: GPUs need a pool of role 'gpu'", "gpus", given=self.gpus)
        if (sharing := pool.get("sharing")) and sharing.resource == TURNS and self.gpus > 1:
            findings.add("RS-16: must be 1 where pods take turns on GPUs", "gpus", given=self.gpus)
        findings.raise_if_any()

    def pods_on(self, instance: InstanceType, devices: int, keeps: Reserves) -> int:
        """Return for how many of the pods a node has room besides the cluster's daemons.

        Parameters
        ----------
        instance
            The node's machine type.
        devices
            GPUs that the node offers, or shares of them.
        keeps
            Resources that the node reserves for itself.
        """
        millis, mib = room_on(instance, keeps)
        rooms = [Decimal(millis) / 1000 / parse_quantity(self.cpu), mib * _MIB / parse_quantity(self.memory)]
        if self.gpus:
            rooms.append(Decimal(devices) / self.gpus)
        return max(0, int(min(rooms)))

    def nodes(self, instance: InstanceType, devices: int, keeps: Reserves) -> int:
        """Return how many nodes the room needs while nothing else runs; 0 if no pod fits on one.

        Parameters
        ----------
        instance, devices, keeps
            As for ``pods_on``.
        """
        fitting = self.pods_on(instance, devices, keeps)
        return math.ceil(self.pods / fitting) if fitting else 0


def room_on(instance: InstanceType, keeps: Reserves) -> tuple[int, int]:
    """Return the millicores and the MiB of a node that the cluster's daemons leave free."""
    return (
        keeps.allocatable_cpu_millis(instance) - DAEMONS_MILLIS,
        keeps.allocatable_memory_mib(instance) - DAEMONS_MIB,
    )


PoolHeadroom: TypeAlias = Annotated[
    Headroom | None,
    Explained(
        "Idle nodes cost money.",
        "Placeholder pods in the namespace igz-headroom, for which the autoscaler keeps nodes (docs/headroom.md).",
    ),
]
