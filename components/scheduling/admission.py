"""The guard that keeps pods of user namespaces on user pools, enforced by the API server itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import pulumi
from pulumi_kubernetes.admissionregistration.v1 import (
    ValidatingAdmissionPolicy,
    ValidatingAdmissionPolicyBinding,
)
from pulumi_kubernetes.rbac.v1 import ClusterRole, ClusterRoleBinding

from components.base import PlatformComponent
from components.contract.admission import (
    CORE_SERVICE_NEEDS_RIGHT,
    CORE_SERVICES_RESOURCE,
    GUARDED_CONTROLLERS,
    MAY_USE_CORE_SERVICES,
    POD_VARIABLES,
    Check,
    is_marked,
    pod_checks,
)
from components.contract.groups import NodeGroup
from components.contract.labels import OWN_DOMAIN, TRUE, LabelKey
from components.ownership import owned

USER_NAMESPACES = {"namespaceSelector": {"matchLabels": {LabelKey.USER_WORKLOADS.value: TRUE}}}
PLATFORM_ROLE = "igz-clusters:platform"
CORE_SERVICE_ROLE = "igz-clusters:core-services"


@dataclass(frozen=True, kw_only=True)
class AdmissionGuardArgs:
    """Inputs of the guard."""

    groups: tuple[NodeGroup, ...]


class AdmissionGuard(PlatformComponent):
    """Admission policies of user namespaces and the two roles around them.

    ``igz-clusters:platform`` may change the policies, their bindings and the mark of a user namespace.
    ``igz-clusters:core-services`` may mark pods as core services. Bind it to people, groups, or a service account of
    another namespace: who is admin of a namespace can act as every service account in it.
    Neither is bound to a person here. There are no parameter objects: nothing to protect beside the policies.
    """

    def __init__(self, name: str, args: AdmissionGuardArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("igz-clusters:scheduling:AdmissionGuard", name, None, opts)
        self._roles()
        self._policy(
            "igz-user-pods-on-user-pools",
            rules=[_rule("", ["pods"], ["CREATE", "UPDATE"])],
            checks=pod_checks(args.groups),
            scope=USER_NAMESPACES,
            variables=POD_VARIABLES,
        )
        template = (
            "(has(object.spec.jobTemplate) ? object.spec.jobTemplate.spec.template : object.spec.template).metadata"
        )
        marked = is_marked("variables.template", LabelKey.CORE_SERVICE)
        self._policy(
            "igz-core-service-mark",
            rules=[_rule(group, list(kinds), ["CREATE", "UPDATE"]) for group, kinds in GUARDED_CONTROLLERS.items()],
            checks=[Check(f"!({marked}) || {MAY_USE_CORE_SERVICES}", CORE_SERVICE_NEEDS_RIGHT)],
            scope=USER_NAMESPACES,
            variables={"template": template},
        )
        self._namespace_mark()
        self.register_outputs({})

    def _namespace_mark(self) -> None:
        key = LabelKey.USER_WORKLOADS
        was, still = (is_marked(f"{version}.metadata", key) for version in ("oldObject", "object"))
        may = f"authorizer.group('{OWN_DOMAIN}').resource('usernamespaces').check('manage').allowed()"
        self._policy(
            "igz-user-namespace-mark",
            rules=[_rule("", ["namespaces"], ["UPDATE"])],
            checks=[
                Check(
                    f"!({was}) || ({still}) || {may}",
                    f"the label {key} switches this namespace's guard on; only the role {PLATFORM_ROLE} may drop it",
                )
            ],
        )

    def _policy(
        self,
        name: str,
        *,
        rules: Sequence[dict[str, Any]],
        checks: Sequence[Check],
        scope: dict[str, Any] | None = None,
        variables: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        policy = ValidatingAdmissionPolicy(
            name,
            metadata=owned(name),
            spec={
                "failurePolicy": "Fail",
                "matchConstraints": {"resourceRules": list(rules), **(scope or {})},
                "variables": [{"name": key, "expression": value} for key, value in variables.items()],
                "validations": [
                    {"expression": c.expression, "message": c.message, "reason": "Forbidden"} for c in checks
                ],
            },
            opts=self.child(),
        )
        ValidatingAdmissionPolicyBinding(
            name,
            metadata=owned(name),
            spec={"policyName": name, "validationActions": ["Deny"]},
            opts=self.child(depends_on=[policy]),
        )

    def _roles(self) -> None:
        core_services = {"apiGroups": [OWN_DOMAIN], "resources": [CORE_SERVICES_RESOURCE], "verbs": ["use"]}
        self._role(CORE_SERVICE_ROLE, [core_services])
        self._role(
            PLATFORM_ROLE,
            [
                core_services,
                {"apiGroups": [OWN_DOMAIN], "resources": ["usernamespaces"], "verbs": ["manage"]},
                {
                    "apiGroups": ["admissionregistration.k8s.io"],
                    "resources": ["validatingadmissionpolicies", "validatingadmissionpolicybindings"],
                    "verbs": ["create", "delete", "get", "list", "patch", "update", "watch"],
                },
                {"apiGroups": [""], "resources": ["namespaces"], "verbs": ["get", "list", "patch", "update", "watch"]},
            ],
        )
        # Pods of a Deployment are made by a controller of the cluster: the mark was judged on the Deployment.
        ClusterRoleBinding(
            "igz-clusters-controllers",
            metadata=owned("igz-clusters:controllers"),
            role_ref={"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": CORE_SERVICE_ROLE},
            subjects=[
                {
                    "apiGroup": "rbac.authorization.k8s.io",
                    "kind": "Group",
                    "name": "system:serviceaccounts:kube-system",
                }
            ],
            opts=self.child(),
        )

    def _role(self, name: str, rules: list[dict[str, Any]]) -> None:
        ClusterRole(name.replace(":", "-"), metadata=owned(name), rules=rules, opts=self.child())


def _rule(group: str, resources: list[str], operations: list[str]) -> dict[str, Any]:
    versions = ["v1"]
    return {"apiGroups": [group], "apiVersions": versions, "operations": operations, "resources": resources}
