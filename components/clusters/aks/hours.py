"""Workflows that stop and start a cluster: its office hours in Azure's terms."""

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
from pulumi_azure_native.authorization import PermissionArgs, RoleAssignment, RoleDefinition
from pulumi_azure_native.logic import ManagedServiceIdentityArgs, ManagedServiceIdentityType, Workflow
from pulumi_azure_native.managedidentity import UserAssignedIdentity

from components.base import PlatformComponent
from components.clusters.aks.identity import Grant, Principal, role_assignment
from components.contract.aks.access import PrincipalKind
from components.contract.aks.config import AksConfig
from components.contract.aks.hours import RIGHTS, PowerAction, definition, role_id
from components.contract.hours import OfficeHours


@dataclass(frozen=True, kw_only=True)
class ClusterHoursArgs:
    """Inputs of the workflows."""

    choices: AksConfig
    hours: OfficeHours
    resource_group: pulumi.Input[str]
    tags: Mapping[str, str]


class ClusterHours(PlatformComponent):
    """Two workflows with one identity, whose custom role only allows stopping and starting this cluster.

    Let it depend on the cluster and its pools: a cluster that is stopped while it is created cannot be finished.
    """

    def __init__(self, name: str, args: ClusterHoursArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("igz-clusters:clusters:AksHours", name, None, opts)
        self._name, self._args = name, args
        identity = self._identity()
        right = self._right(identity)
        for action in PowerAction:
            self._workflow(action, identity, right)
        self.register_outputs({"clientId": identity.client_id})

    @property
    def _identity_name(self) -> str:
        return f"{self._args.choices.name}-hours"

    def _identity(self) -> UserAssignedIdentity:
        args = self._args
        return UserAssignedIdentity(
            f"{self._name}-identity",
            resource_group_name=args.resource_group,
            resource_name_=self._identity_name,
            location=args.choices.location,
            tags=dict(args.tags),
            opts=self.child(),
        )

    def _right(self, identity: UserAssignedIdentity) -> RoleAssignment:
        group = self._args.choices.group_id
        id_ = role_id(group)
        role = RoleDefinition(
            f"{self._name}-role",
            scope=group,
            role_definition_id=id_,
            # Names of roles are unique in a tenant, names of clusters only in a subscription.
            role_name=f"{self._args.choices.name} office hours {id_[:8]}",
            role_type="CustomRole",
            description="Stops and starts the cluster by its office hours.",
            permissions=[PermissionArgs(actions=list(RIGHTS))],
            assignable_scopes=[group],
            opts=self.child(),
        )
        principal = Principal("hours", identity.principal_id, PrincipalKind.SERVICE_PRINCIPAL)
        # Assigned on the group, which holds only this cluster, so that it outlives a replacement of the cluster.
        return role_assignment(f"{self._name}-right", principal, Grant(id_, group), self.child(depends_on=[role]))

    def _workflow(self, action: PowerAction, identity: UserAssignedIdentity, right: pulumi.Resource) -> None:
        args, choices = self._args, self._args.choices
        identities = f"{choices.group_id}/providers/Microsoft.ManagedIdentity/userAssignedIdentities"
        Workflow(
            f"{self._name}-{action}",
            resource_group_name=args.resource_group,
            workflow_name=f"{choices.name}-{action}",
            location=choices.location,
            identity=ManagedServiceIdentityArgs(
                type=ManagedServiceIdentityType.USER_ASSIGNED, user_assigned_identities=[identity.id]
            ),
            state="Enabled",
            definition=definition(args.hours, action, choices.cluster_id, f"{identities}/{self._identity_name}"),
            tags=dict(args.tags),
            opts=self.child(depends_on=[right]),
        )
