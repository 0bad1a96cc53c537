"""The baseline of the Pod Security Standards where Pod Security itself cannot make exceptions."""

from dataclasses import dataclass, replace
from typing import Any

import pulumi

from components.base import PlatformComponent
from components.contract.labels import TRUE, LabelKey, WellKnownLabel
from components.contract.namespaces import OPEN_LEVEL
from components.contract.pod_security import BASELINE_VARIABLES, MESSAGE, MESSAGE_EXPRESSION, POLICY_NAME
from components.contract.policy_choices import AdmissionMode
from components.scheduling.admission_rules import DENIES, SUBJECTS, WARNS, Subject
from components.scheduling.policy_objects import declare, variables

_OPEN_NAMESPACES = {
    "namespaceSelector": {
        "matchLabels": {
            LabelKey.USER_WORKLOADS.value: TRUE,
            WellKnownLabel.POD_SECURITY_ENFORCE.value: OPEN_LEVEL,
        }
    }
}
"""User namespaces in which Pod Security enforces nothing. Only the platform role may change these labels."""


@dataclass(frozen=True, kw_only=True)
class PodSecurityArgs:
    """Inputs of the baseline."""

    admission: AdmissionMode = AdmissionMode.DENY


class PodSecurity(PlatformComponent):
    """Admission policies that enforce the baseline, with allowances for MPI jobs and daemons of core services.

    Pods are rejected; authors of controllers get a warning.
    """

    def __init__(self, name: str, args: PodSecurityArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("igz-clusters:scheduling:PodSecurity", name, None, opts)
        pods = replace(SUBJECTS["pods"], scope=_OPEN_NAMESPACES)
        refuses = args.admission is AdmissionMode.DENY
        self._policy(POLICY_NAME, replace(pods, foretold=()), refuses=refuses)
        self._policy(f"{POLICY_NAME}-foretold", replace(pods, judged=()), refuses=False)
        self.register_outputs({})

    def _policy(self, name: str, subject: Subject, *, refuses: bool) -> None:
        spec: dict[str, Any] = {
            "failurePolicy": "Fail" if refuses else "Ignore",
            "matchConstraints": {"resourceRules": [*subject.judged, *subject.foretold], **subject.scope},
            "matchConditions": [{"name": key, "expression": value} for key, value in subject.conditions.items()],
            "variables": variables(BASELINE_VARIABLES),
            "validations": [
                {
                    "expression": "variables.violations.size() == 0",
                    "messageExpression": MESSAGE_EXPRESSION,
                    "message": MESSAGE,
                    "reason": "Forbidden",
                }
            ],
        }
        declare(self, name, spec, {"validationActions": list(DENIES if refuses else WARNS)})
