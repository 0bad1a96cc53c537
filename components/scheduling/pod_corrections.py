"""Corrections of pods whose placement no node could meet, made by the API server."""

from dataclasses import dataclass
from typing import Any, Final

import pulumi
from pulumi_kubernetes.apiextensions import CustomResource

from components.base import PlatformComponent
from components.contract.groups import NodeGroup
from components.contract.pod_corrections import (
    CORRECTED,
    correction_patches,
    correction_variables,
    pod_corrections,
)
from components.ownership import owned
from components.scheduling.policy_objects import USER_NAMESPACES, resources, variables

NAME: Final = "igz-pod-corrections"


@dataclass(frozen=True, kw_only=True)
class PodCorrectionsArgs:
    """Inputs of the corrections."""

    groups: tuple[NodeGroup, ...]


class PodCorrections(PlatformComponent):
    """A mutation of new pods in user namespaces; nothing where the groups need no correction."""

    def __init__(self, name: str, args: PodCorrectionsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("igz-clusters:scheduling:PodCorrections", name, None, opts)
        needs = pod_corrections(args.groups)
        if needs.is_needed:
            policy = self._object(
                "MutatingAdmissionPolicy",
                {
                    # A pod that is not corrected waits, or the rules refuse it; neither is worth an outage.
                    "failurePolicy": "Ignore",
                    "reinvocationPolicy": "Never",
                    "matchConstraints": {"resourceRules": [resources("", ["pods"], "CREATE")], **USER_NAMESPACES},
                    "matchConditions": [{"name": key, "expression": value} for key, value in CORRECTED.items()],
                    "variables": variables(correction_variables(needs)),
                    "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": correction_patches(needs)}}],
                },
            )
            self._object("MutatingAdmissionPolicyBinding", {"policyName": NAME}, policy)
        self.register_outputs({})

    def _object(self, kind: str, spec: dict[str, Any], *after: pulumi.Resource) -> CustomResource:
        # The SDK has no class for version v1 yet; it will have this type.
        return CustomResource(
            f"{NAME}-{kind}",
            api_version="admissionregistration.k8s.io/v1",
            kind=kind,
            metadata=owned(NAME),
            spec=spec,
            opts=self.child(depends_on=list(after)),
        )
