"""Refusal of MPI jobs that are larger than their pools, before their workers wait for each other."""

from dataclasses import dataclass

import pulumi

from components.base import PlatformComponent
from components.contract.gangs import MESSAGE, MESSAGE_EXPRESSION, NEEDS_ALL_WORKERS, POLICY_NAME, gpu_room
from components.contract.groups import NodeGroup
from components.contract.policy_choices import AdmissionMode
from components.scheduling.admission_rules import DENIES, WARNS
from components.scheduling.policy_objects import USER_NAMESPACES, declare, variables


@dataclass(frozen=True, kw_only=True)
class GangsArgs:
    """Inputs of the refusal."""

    groups: tuple[NodeGroup, ...]
    admission: AdmissionMode = AdmissionMode.DENY


class Gangs(PlatformComponent):
    """An admission policy for new MPI jobs in user namespaces; nothing on clusters without GPUs.

    Existing jobs can be suspended, scaled and finished, whatever their size.
    """

    def __init__(self, name: str, args: GangsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("igz-clusters:scheduling:Gangs", name, None, opts)
        room = gpu_room(args.groups)
        if room.nodes:
            jobs = {
                "apiGroups": ["kubeflow.org"],
                # Both versions of the operator; the API server checks the one that the author wrote.
                "apiVersions": ["v1", "v2beta1"],
                "operations": ["CREATE"],
                "resources": ["mpijobs"],
            }
            spec = {
                # The policy only spares users a wait, so jobs that it cannot evaluate are admitted.
                "failurePolicy": "Ignore",
                "matchConstraints": {"resourceRules": [jobs], **USER_NAMESPACES},
                "matchConditions": [{"name": "needs-all-workers", "expression": NEEDS_ALL_WORKERS}],
                "variables": variables(room.variables),
                "validations": [
                    {
                        "expression": "variables.violations.size() == 0",
                        "messageExpression": MESSAGE_EXPRESSION,
                        "message": MESSAGE,
                        "reason": "Forbidden",
                    }
                ],
            }
            refuses = args.admission is AdmissionMode.DENY
            declare(self, POLICY_NAME, spec, {"validationActions": list(DENIES if refuses else WARNS)})
        self.register_outputs({})
