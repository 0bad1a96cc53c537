"""The guard that keeps pods of user namespaces on user pools, enforced by the API server itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import pulumi
from pulumi_kubernetes.rbac.v1 import ClusterRole, ClusterRoleBinding

from components.base import PlatformComponent
from components.contract.admission import (
    CLOUD_IDENTITIES,
    CORE_SERVICE_NEEDS_RIGHT,
    CORE_SERVICES_RESOURCE,
    GUARDED_CONTROLLERS,
    MAY_USE_CORE_SERVICES,
    POD_MARK,
    POD_SUBRESOURCES,
    POD_VARIABLES,
    TEMPLATE_VARIABLES,
    WAIVER_PREFIX,
    Check,
    is_marked,
    keeps,
    may_manage,
    spot_checks,
)
from components.contract.groups import NodeGroup
from components.contract.labels import OWN_DOMAIN, LabelKey, WellKnownLabel
from components.contract.ownership import FIELD_MANAGER
from components.contract.placement import BY_THE_CLUSTER, Placement, excused
from components.contract.policy_parameters import PARAMETERS_PLURAL
from components.contract.pools import PoolRole
from components.ownership import owned
from components.scheduling.policy_objects import USER_NAMESPACES, declare, resources, variables

PLATFORM_ROLE = "igz-clusters:platform"
CORE_SERVICE_ROLE = "igz-clusters:core-services"
EVERYTHING = ["create", "delete", "get", "list", "patch", "update", "watch"]


@dataclass(frozen=True, kw_only=True)
class AdmissionGuardArgs:
    """Inputs of the guard."""

    groups: tuple[NodeGroup, ...]
    placement: Placement = field(default_factory=Placement)
    """Default: the API server sets placements, and no namespace has core services."""


class AdmissionGuard(PlatformComponent):
    """Admission policies that protect the marks of pods, namespaces and nodes, and the two roles around them.

    ``igz-clusters:platform`` may change the policies, their bindings and parameters, the marks of a user namespace
    and the contract's labels of a node. A custom role with ``manage`` on ``nodes/lifecycle`` is enough for the
    label of the lifecycle, outside the initial group. ``igz-clusters:core-services`` may mark pods as core services.
    Bind it to people, groups, or a service account of another namespace: an admin of a namespace can act as every
    service account in it. Neither role is bound here.
    """

    def __init__(self, name: str, args: AdmissionGuardArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("igz-clusters:scheduling:AdmissionGuard", name, None, opts)
        self._roles()
        needed, lifecycles = excused(spot_checks(args.groups), args.placement)
        self._policy(
            "igz-user-pods-on-user-pools",
            rules=[resources("", ["pods", *POD_SUBRESOURCES], "CREATE", "UPDATE")],
            checks=[POD_MARK, *lifecycles],
            scope=USER_NAMESPACES,
            expressions={**POD_VARIABLES, **needed},
        )
        self._policy(
            "igz-core-service-mark",
            rules=[resources(group, kinds, "CREATE", "UPDATE") for group, kinds in GUARDED_CONTROLLERS.items()],
            checks=[Check(f"!variables.core || {MAY_USE_CORE_SERVICES}", CORE_SERVICE_NEEDS_RIGHT)],
            scope=USER_NAMESPACES,
            expressions=TEMPLATE_VARIABLES,
        )
        self._namespace_marks()
        self._network_policies()
        self._node_labels()
        self.register_outputs({})

    def _namespace_marks(self) -> None:
        key, may = LabelKey.USER_WORKLOADS, may_manage("usernamespaces")
        was, still = (is_marked(f"{version}.metadata", key) for version in ("oldObject", "object"))
        pod_security = WellKnownLabel.POD_SECURITY_ENFORCE.partition("/")[0]
        exemptions = f"{keeps('labels', f'{pod_security}/')} && {keeps('annotations', WAIVER_PREFIX)}"
        self._policy(
            "igz-user-namespace-mark",
            # Metadata can be changed through a subresource as well.
            rules=[resources("", ["namespaces", "namespaces/finalize", "namespaces/status"], "UPDATE")],
            checks=[
                Check(
                    f"!({was}) || ({still}) || {may}",
                    f"the label {key} guards this namespace: change the stack file. Only {PLATFORM_ROLE} may drop it",
                ),
                Check(
                    f"!({was}) || ({exemptions}) || {may}",
                    f"labels {pod_security}/* and annotations {WAIVER_PREFIX}* of a user namespace decide what its "
                    f"pods may do; change the stack file. By hand, only the role {PLATFORM_ROLE} may change them",
                ),
            ],
        )

    def _network_policies(self) -> None:
        ours = f"oldObject.metadata.?managedFields.orValue([]).exists(m, m.?manager.orValue('') == '{FIELD_MANAGER}')"
        self._policy(
            "igz-network-policies",
            rules=[resources("networking.k8s.io", ["networkpolicies"], "UPDATE", "DELETE")],
            checks=[
                Check(
                    # The cluster's own controllers empty a namespace that is deleted.
                    f"!({ours}) || {BY_THE_CLUSTER} || {may_manage('usernamespaces')}",
                    "network policies of the stack isolate the namespace; change the stack file instead, or add a "
                    f"policy of your own. Only the role {PLATFORM_ROLE} may change or delete them by hand",
                )
            ],
            scope=USER_NAMESPACES,
        )

    def _node_labels(self) -> None:
        cloud = f"request.userInfo.username.startsWith('{CLOUD_IDENTITIES}')"
        hint = f"follow from its pool: change the stack file instead. Only the role {PLATFORM_ROLE}"
        core = f"oldObject.metadata.?labels[?'{LabelKey.ROLE}'].orValue('') == '{PoolRole.INITIAL}'"
        self._policy(
            "igz-node-labels",
            rules=[resources("", ["nodes", "nodes/status"], "UPDATE")],
            checks=[
                Check(
                    f"{keeps('labels', f'{OWN_DOMAIN}/')} || {cloud} || {may_manage('nodes')}",
                    f"labels {OWN_DOMAIN}/* of a node {hint} may change them by hand",
                ),
                Check(
                    f"{keeps('labels', LabelKey.LIFECYCLE)} || {cloud} || {may_manage('nodes')}"
                    f" || (!({core}) && {may_manage('nodes', 'lifecycle')})",
                    f"label {LabelKey.LIFECYCLE} of a node {hint} and, outside the initial group, users with the right "
                    f"to 'manage' nodes/lifecycle.{OWN_DOMAIN} may change it by hand",
                ),
            ],
        )

    def _policy(
        self,
        name: str,
        *,
        rules: Sequence[dict[str, Any]],
        checks: Sequence[Check],
        scope: dict[str, Any] | None = None,
        expressions: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        spec = {
            "failurePolicy": "Fail",
            "matchConstraints": {"resourceRules": list(rules), **(scope or {})},
            "variables": variables(expressions),
            "validations": [{"expression": c.expression, "message": c.message, "reason": "Forbidden"} for c in checks],
        }
        declare(self, name, spec, {"validationActions": ["Deny"]})

    def _roles(self) -> None:
        core_services = {"apiGroups": [OWN_DOMAIN], "resources": [CORE_SERVICES_RESOURCE], "verbs": ["use"]}
        self._role(CORE_SERVICE_ROLE, [core_services])
        self._role(
            PLATFORM_ROLE,
            [
                core_services,
                {"apiGroups": [OWN_DOMAIN], "resources": ["nodes", "usernamespaces"], "verbs": ["manage"]},
                {"apiGroups": [OWN_DOMAIN], "resources": [PARAMETERS_PLURAL], "verbs": EVERYTHING},
                {
                    "apiGroups": ["apiextensions.k8s.io"],
                    "resources": ["customresourcedefinitions"],
                    "resourceNames": [f"{PARAMETERS_PLURAL}.{OWN_DOMAIN}"],
                    "verbs": ["delete", "get", "patch", "update"],
                },
                {
                    "apiGroups": ["admissionregistration.k8s.io"],
                    "resources": ["validatingadmissionpolicies", "validatingadmissionpolicybindings"],
                    "verbs": EVERYTHING,
                },
                {
                    # A user who may write a mutation can change the requests of cluster admins.
                    "apiGroups": ["admissionregistration.k8s.io"],
                    "resources": ["mutatingadmissionpolicies", "mutatingadmissionpolicybindings"],
                    "verbs": ["get", "list", "watch"],
                },
                {"apiGroups": [""], "resources": ["namespaces"], "verbs": ["get", "list", "patch", "update", "watch"]},
                {
                    "apiGroups": [""],
                    "resources": ["nodes"],
                    "verbs": ["delete", "get", "list", "patch", "update", "watch"],
                },
            ],
        )
        # A controller of the cluster creates the pods of a Deployment: the mark was checked on the Deployment.
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
