"""The priority classes of the contract."""

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
from pulumi_kubernetes.scheduling.v1 import PriorityClass

from components.base import PlatformComponent
from components.contract.environments import PlatformProfile
from components.contract.priorities import SystemPriority, UserPriority
from components.ownership import owned


@dataclass(frozen=True, kw_only=True)
class PriorityClassesArgs:
    """Inputs of the priority classes."""

    profile: PlatformProfile


class PriorityClasses(PlatformComponent):
    """Low, medium and high for users; with MLRun CE also the classes of the core services.

    The full platform's installer makes its system classes itself, and a class cannot be changed once it exists.
    """

    classes: dict[UserPriority | SystemPriority, PriorityClass]

    def __init__(self, name: str, args: PriorityClassesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("igz-clusters:scheduling:PriorityClasses", name, None, opts)
        tiers: Sequence[UserPriority | SystemPriority] = [
            *UserPriority,
            *(SystemPriority if args.profile is PlatformProfile.MLRUN_CE else ()),
        ]
        self.classes = {tier: self._class(tier) for tier in tiers}
        self.register_outputs({"names": [tier.value for tier in tiers]})

    def _class(self, tier: UserPriority | SystemPriority) -> PriorityClass:
        users = isinstance(tier, UserPriority)
        return PriorityClass(
            tier.value,
            metadata=owned(tier.value),
            value=tier.priority,
            preemption_policy=tier.preemption_policy.value,
            global_default=False,
            description="User work; waits for room." if users else "Core services; may evict user work.",
            opts=self.child(),
        )
