"""Priority classes for users and core services."""

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
from pulumi_kubernetes.scheduling.v1 import PriorityClass, PriorityClassPatch

from components.base import PlatformComponent
from components.contract.environments import PlatformProfile
from components.contract.existing.cluster_inventory import SharedKind, SharedObject
from components.contract.priorities import SystemPriority, UserPriority
from components.ownership import joined, owned


@dataclass(frozen=True, kw_only=True)
class PriorityClassesArgs:
    """Inputs of the priority classes."""

    profile: PlatformProfile
    adopted: frozenset[SharedObject] = frozenset()
    """Existing classes, which stay with their owner. Default: none."""


class PriorityClasses(PlatformComponent):
    """Low, medium and high for users; with MLRun CE also the classes of the core services.

    The full platform's installer creates its system classes itself, and a class cannot be changed once it exists.
    """

    classes: dict[UserPriority | SystemPriority, PriorityClass | PriorityClassPatch]

    def __init__(self, name: str, args: PriorityClassesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("igz-clusters:scheduling:PriorityClasses", name, None, opts)
        tiers: Sequence[UserPriority | SystemPriority] = [
            *UserPriority,
            *(SystemPriority if args.profile is PlatformProfile.MLRUN_CE else ()),
        ]
        self.classes = {tier: self._class(tier, args.adopted) for tier in tiers}
        self.register_outputs({"names": [tier.value for tier in tiers]})

    def value_of(self, tier: UserPriority) -> pulumi.Input[int | None]:
        """Return the value of a class; that of an adopted one comes from the cluster."""
        made = self.classes[tier]
        return made.value if isinstance(made, PriorityClassPatch) else tier.priority

    def _class(
        self, tier: UserPriority | SystemPriority, adopted: frozenset[SharedObject]
    ) -> PriorityClass | PriorityClassPatch:
        users = isinstance(tier, UserPriority)
        if SharedObject(SharedKind.PRIORITY_CLASS, tier.value) in adopted:
            return PriorityClassPatch(
                tier.value,
                metadata=joined(tier.value),
                value=None if users else tier.priority,  # the owner of a user class sets it
                preemption_policy=tier.preemption_policy.value,
                opts=self.child(),
            )
        return PriorityClass(
            tier.value,
            metadata=owned(tier.value),
            value=tier.priority,
            preemption_policy=tier.preemption_policy.value,
            global_default=False,
            description="User work; waits for room." if users else "Core services; may evict user work.",
            opts=self.child(),
        )
