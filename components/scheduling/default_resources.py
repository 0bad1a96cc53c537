"""Requests and limits of containers that set only some of them, completed by the API server."""

from dataclasses import dataclass
from typing import Final

import pulumi

from components.base import PlatformComponent
from components.contract.admission import GUARDED_CONTROLLERS
from components.contract.default_resources import COMPLETED, completion_patches, completion_variables
from components.contract.placement import Placement
from components.contract.pod_resources import PodResources
from components.scheduling.policy_objects import USER_NAMESPACES, declare_mutation, resources, variables

NAME: Final = "igz-default-resources"


@dataclass(frozen=True, kw_only=True)
class DefaultResourcesArgs:
    """Inputs of the completion."""

    pod_resources: PodResources
    placement: Placement


class DefaultResources(PlatformComponent):
    """A mutation of pods and templates in user namespaces; nothing where the cluster cannot mutate."""

    def __init__(self, name: str, args: DefaultResourcesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("igz-clusters:scheduling:DefaultResources", name, None, opts)
        if args.placement.mutates:
            rules = [
                *(resources(group, kinds, "CREATE", "UPDATE") for group, kinds in GUARDED_CONTROLLERS.items()),
                resources("", ["pods"], "CREATE"),
            ]
            declare_mutation(
                self,
                NAME,
                {
                    "matchConstraints": {"resourceRules": rules, **USER_NAMESPACES},
                    "matchConditions": [{"name": key, "expression": value} for key, value in COMPLETED.items()],
                    "variables": variables(completion_variables(args.pod_resources, args.placement)),
                },
                completion_patches(),
            )
        self.register_outputs({})
