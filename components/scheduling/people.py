"""Roles of people and pipelines, and who has them."""

import json
from dataclasses import dataclass
from typing import Any, Final

import pulumi
from pulumi_kubernetes.rbac.v1 import ClusterRole, ClusterRoleBinding, RoleBinding

from components.base import PlatformComponent
from components.contract.admission import may_manage
from components.contract.labels import LabelKey
from components.contract.people import Binding, People, Subjects, bindings
from components.contract.people_rights import ROLES
from components.contract.pools import PoolRole
from components.ownership import owned
from components.scheduling.policy_objects import declare, resources

NODES_POLICY: Final = "igz-it-admin-nodes"
"""Admission policy that confines IT administrators to application nodes: RBAC ignores the labels of nodes."""

_RBAC: Final = "rbac.authorization.k8s.io"


@dataclass(frozen=True, kw_only=True)
class PeopleAccessArgs:
    """Inputs of the roles."""

    people: People
    core_namespaces: tuple[str, ...]
    """Namespaces of the stack in which core services run."""


class PeopleAccess(PlatformComponent):
    """The cluster roles that the stack file binds, their bindings, and the guard of nodes."""

    def __init__(self, name: str, args: PeopleAccessArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("igz-clusters:scheduling:PeopleAccess", name, None, opts)
        bound = list(bindings(args.people, args.core_namespaces))
        for role in dict.fromkeys(each.role for each in bound):
            if rights := ROLES.get(role):  # the admission guard creates the role of core services
                rules = [rule for right in rights for rule in right.rules()]
                ClusterRole(_logical(role), metadata=owned(role), rules=rules, opts=self.child())
        for each in bound:
            self._bind(each)
        if args.people.it_admins:
            self._confine_to_application_nodes(args.people.it_admins)
        self.register_outputs({})

    def _bind(self, binding: Binding) -> None:
        role = binding.role.value
        inputs: dict[str, Any] = {
            "role_ref": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": role},
            "subjects": [{"apiGroup": _RBAC, "kind": kind, "name": name} for kind, name in binding.subjects],
        }
        if binding.namespace:
            logical = f"{binding.namespace}-{_logical(role)}"
            RoleBinding(logical, metadata=owned(role, namespace=binding.namespace), opts=self.child(), **inputs)
        else:
            ClusterRoleBinding(_logical(role), metadata=owned(role), opts=self.child(), **inputs)

    def _confine_to_application_nodes(self, admins: Subjects) -> None:
        roles = f"[{', '.join(repr(role.value) for role in PoolRole if role.holds_user_work)}]"
        is_application = f"oldObject.metadata.?labels[?'{LabelKey.ROLE}'].orValue('') in {roles}"
        # Annotations keep autoscalers from removing data nodes.
        unchanged = " && ".join(["object.spec == oldObject.spec", _same("labels", "{}"), _same("annotations", "{}")])
        # The garbage collector deletes a node whose owner does not exist; a finalizer keeps one that is deleted.
        kept = " && ".join([_same("ownerReferences", "[]"), _same("finalizers", "[]")])
        who = (
            f"request.userInfo.username in {_texts(admins.users)}"
            f" || request.userInfo.?groups.orValue([]).exists(g, g in {_texts(admins.groups)})"
        )
        spec = {
            "failurePolicy": "Fail",
            "matchConstraints": {"resourceRules": [resources("", ["nodes"], "UPDATE")]},
            "matchConditions": [{"name": "it-admins", "expression": who}],
            "validations": [
                {
                    "expression": f"({is_application} || {unchanged}) && {kept} || {may_manage('nodes')}",
                    "message": "IT administrators label, annotate, cordon and taint application nodes only, not the "
                    "control plane or nodes of the roles initial and data, and give no node an owner or a finalizer. "
                    "Ask the platform team",
                    "reason": "Forbidden",
                }
            ],
        }
        declare(self, NODES_POLICY, spec, {"validationActions": ["Deny"]})


def _same(field: str, nothing: str) -> str:
    """Return the expression that is true if a request leaves a field of the metadata unchanged."""
    return f"object.metadata.?{field}.orValue({nothing}) == oldObject.metadata.?{field}.orValue({nothing})"


def _logical(role: str) -> str:
    return role.replace(":", "-")


def _texts(names: tuple[str, ...]) -> str:
    """Return a CEL list of strings, which are written like JSON strings."""
    return json.dumps(sorted(names), ensure_ascii=False)
