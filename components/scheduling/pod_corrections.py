"""Corrections of pods whose placement no node could meet, made by the API server."""

from dataclasses import dataclass
from typing import Final

import pulumi

from components.base import PlatformComponent
from components.contract.groups import NodeGroup
from components.contract.placement import Placement
from components.contract.pod_corrections import (
    CORRECTED,
    correction_patches,
    correction_variables,
    pod_corrections,
)
from components.scheduling.policy_objects import USER_NAMESPACES, declare_mutation, resources, variables

NAME: Final = "igz-pod-corrections"


@dataclass(frozen=True, kw_only=True)
class PodCorrectionsArgs:
    """Inputs of the corrections."""

    groups: tuple[NodeGroup, ...]
    placement: Placement


class PodCorrections(PlatformComponent):
    """A mutation of new pods in user namespaces; nothing where the groups need none or the cluster cannot mutate."""

    def __init__(self, name: str, args: PodCorrectionsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("igz-clusters:scheduling:PodCorrections", name, None, opts)
        needs = pod_corrections(args.groups)
        if args.placement.mutates and needs.is_needed:
            declare_mutation(
                self,
                NAME,
                {
                    "matchConstraints": {"resourceRules": [resources("", ["pods"], "CREATE")], **USER_NAMESPACES},
                    "matchConditions": [{"name": key, "expression": value} for key, value in CORRECTED.items()],
                    "variables": variables(correction_variables(needs)),
                },
                correction_patches(needs),
            )
        self.register_outputs({})
