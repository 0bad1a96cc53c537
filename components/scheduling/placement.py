"""Placement of pods of user namespaces whose authors chose none, set by the API server."""

from dataclasses import dataclass
from typing import Any, Final

import pulumi

from components.base import PlatformComponent
from components.contract.admission import GUARDED_CONTROLLERS
from components.contract.placement import (
    BY_THE_CLUSTER,
    NOTICE,
    NOTICE_VARIABLES,
    TEMPLATE_IS_NEW,
    Placement,
    placement_patches,
    placement_variables,
)
from components.scheduling.policy_objects import USER_NAMESPACES, declare, declare_mutation, resources, variables

MUTATES: Final = "igz-placement-mutation"
NOTICES: Final = "igz-placement-notice"


@dataclass(frozen=True, kw_only=True)
class PodPlacementArgs:
    """Inputs of the placement."""

    placement: Placement


class PodPlacement(PlatformComponent):
    """A mutation that sets the placement, and a warning about it; nothing on clusters that cannot mutate."""

    def __init__(self, name: str, args: PodPlacementArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("igz-clusters:scheduling:PodPlacement", name, None, opts)
        if args.placement.mutates:
            constraints: dict[str, Any] = {
                **USER_NAMESPACES,
                "resourceRules": [
                    *(resources(group, kinds, "CREATE", "UPDATE") for group, kinds in GUARDED_CONTROLLERS.items()),
                    # The placement of a pod cannot be changed later.
                    resources("", ["pods"], "CREATE"),
                ],
            }
            conditions = [
                # Pods that the cluster's own controllers create have a placement already, or their author was rejected.
                {"name": "not-by-the-cluster", "expression": f"!({BY_THE_CLUSTER})"},
                {"name": "template-is-new", "expression": TEMPLATE_IS_NEW},
            ]
            declare_mutation(
                self,
                MUTATES,
                {
                    "matchConstraints": constraints,
                    "matchConditions": conditions,
                    "variables": variables(placement_variables(args.placement)),
                },
                placement_patches(args.placement),
            )
            self._notice(constraints, conditions)
        self.register_outputs({})

    def _notice(self, constraints: dict[str, Any], conditions: list[dict[str, str]]) -> None:
        spec = {
            "failurePolicy": "Ignore",
            "matchConstraints": constraints,
            "matchConditions": conditions,
            "variables": variables(NOTICE_VARIABLES),
            "validations": [
                {
                    "expression": "variables.why == '' || variables.why == variables.known",
                    "messageExpression": NOTICE,
                }
            ],
        }
        declare(self, NOTICES, spec, {"validationActions": ["Warn"]})
