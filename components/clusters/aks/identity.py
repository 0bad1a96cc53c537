"""Identities of the cluster and its nodes, with the least roles that each needs and no keys."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import pulumi
from pulumi_azure_native.authorization import RoleAssignment
from pulumi_azure_native.managedidentity import UserAssignedIdentity

from components.base import PlatformComponent
from components.contract.aks.access import PrincipalKind
from components.contract.aks.config import AksConfig
from components.contract.aks.identity import ACR_PULL
from components.contract.aks.network import registry_of
from components.contract.azure import role_assignment_name, subscription_of

CLUSTER_USER: Final = "4abbcc35-e782-43d8-92c5-2d3f1bd2253f"
"""Azure Kubernetes Service Cluster User Role: may read the cluster's address, and nothing in the cluster."""

CRYPTO_USER: Final = "12338af0-0e69-4776-bea7-57ae8d297424"
"""Key Vault Crypto User: https://learn.microsoft.com/azure/aks/use-kms-etcd-encryption."""

IDENTITY_OPERATOR: Final = "f1a07417-d97a-45cb-824c-7a7467783830"
"""Managed Identity Operator: https://learn.microsoft.com/azure/aks/use-managed-identity."""

NETWORK_CONTRIBUTOR: Final = "4d97b98b-1d4f-4787-a291-c67834d212e7"
"""Required on an existing subnet: https://learn.microsoft.com/azure/aks/configure-kubenet#prerequisites."""

PRIVATE_DNS: Final = "b12aa53e-6015-4669-85d0-8515ebb3ae7f"
"""Private DNS Zone Contributor, the narrowest built-in role that may join a network.

On a network it allows nothing else. https://learn.microsoft.com/azure/aks/private-clusters requires Network
Contributor if the zone is the customer's own; we assume that this role is enough there too.
"""

READER: Final = "acdd72a7-3385-48ef-bd42-f606fba81ae7"
"""Enough to use a disk encryption set: https://learn.microsoft.com/azure/aks/aks-service-permissions."""


CONDITION_VERSION: Final = "2.0"
"""The only version: https://learn.microsoft.com/azure/role-based-access-control/conditions-role-assignments-rest."""

KEEPS_NAME: Final[Mapping[str, Any]] = {"ignore_changes": ["roleAssignmentName"], "delete_before_replace": True}
"""Options of role assignments on resources that clusters share. Before release 0.3, their names did not contain the
cluster.

An existing assignment keeps its name: Azure allows only one assignment of a role to a principal on a scope
(``RoleAssignmentExists``), so the engine would have to delete the old one before it creates one with another name, and
in between the cluster would lack the role. With an unchanged name, a replacement on another scope cannot be created
first either.
"""


class Principal(NamedTuple):
    """A principal in Entra ID."""

    key: str
    """An identifier that is known before it exists: an object id, or our own name of an identity."""
    id: pulumi.Input[str]
    """Its object id."""
    kind: PrincipalKind


class Grant(NamedTuple):
    """A role on everything below a scope."""

    role: str
    """Id of the role: of a built-in one, or of one in the scope's subscription."""
    scope: str
    """Id of a resource or a group, in the spelling of the configuration, so that the name is known beforehand."""
    condition: str = ""
    """Restriction to some data below the scope. Default: all of it."""


def role_assignment(name: str, principal: Principal, grant: Grant, opts: pulumi.ResourceOptions) -> RoleAssignment:
    """Assign a role to ``principal``.

    Parameters
    ----------
    name
        Logical name.
    principal
        Principal that gets the role.
    grant
        Role and scope.
    opts
        Options of the resource.
    """
    role, scope, condition = grant
    return RoleAssignment(
        name,
        role_assignment_name=role_assignment_name(scope, principal.key, role),
        scope=scope,
        role_definition_id=f"/subscriptions/{subscription_of(scope)}/providers/Microsoft.Authorization/roleDefinitions/{role}",
        principal_id=principal.id,
        # If unset, Azure looks a new identity up in Entra, possibly before Entra knows it.
        principal_type=principal.kind.azure,
        condition=condition or None,
        condition_version=CONDITION_VERSION if condition else None,
        opts=opts,
    )


class Right(NamedTuple):
    """A role that the control plane needs."""

    key: str
    role: str
    scope: str
    formerly: str = ""
    """Its key in earlier releases, if different."""


@dataclass(frozen=True, kw_only=True)
class ClusterIdentitiesArgs:
    """Inputs of the identities."""

    choices: AksConfig
    resource_group: pulumi.Input[str]
    tags: dict[str, str]


class ClusterIdentities(PlatformComponent):
    """One identity for the control plane and one for the nodes, with the roles that AKS requires.

    Depend on the component, not on an identity, so that the roles exist too. AKS's own identities would get their roles
    only after the cluster exists, which needs them earlier.
    """

    control_plane: UserAssignedIdentity
    kubelet: UserAssignedIdentity

    def __init__(self, name: str, args: ClusterIdentitiesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("igz-clusters:clusters:AksIdentities", name, None, opts)
        self._name, self._args = name, args
        self.control_plane = self._identity("control-plane")
        self.kubelet = self._identity("kubelet")
        # Clusters may share a network, a zone, a vault and a disk encryption set.
        key = f"{args.choices.cluster_id} control-plane"
        principal = Principal(key, self.control_plane.principal_id, PrincipalKind.SERVICE_PRINCIPAL)
        for right in self._rights():
            formerly = f"{name}-{right.formerly}" if right.formerly else ""
            needed = self.child(formerly=formerly, depends_on=[self.kubelet], **KEEPS_NAME)
            role_assignment(f"{name}-{right.key}", principal, Grant(right.role, right.scope), needed)
        if registry := registry_of(args.choices.network):
            # The nodes of other clusters may have the role there too, so the name contains the cluster.
            key = f"{args.choices.cluster_id} kubelet"
            nodes = Principal(key, self.kubelet.principal_id, PrincipalKind.SERVICE_PRINCIPAL)
            role_assignment(f"{name}-registry", nodes, Grant(ACR_PULL, registry), self.child())
        self.register_outputs({"kubeletClientId": self.kubelet.client_id})

    def _rights(self) -> Iterator[Right]:
        choices = self._args.choices
        yield Right("subnet", NETWORK_CONTRIBUTOR, choices.node_subnet_id)
        if choices.is_private:
            # The zone of the API's name is linked to the whole network, so rights on a subnet are not enough.
            yield Right("network", PRIVATE_DNS, choices.network_id)
        if choices.private_dns_zone_id:
            yield Right("zone", PRIVATE_DNS, choices.private_dns_zone_id)
        identities = f"{choices.group_id}/providers/Microsoft.ManagedIdentity/userAssignedIdentities"
        yield Right("kubelet", IDENTITY_OPERATOR, f"{identities}/{self._physical('kubelet')}")
        # AKS uses two keys at a time, so the role on the previous vault stays. The role on the oldest keeps its name.
        for vault in choices.key_vault_ids:
            is_oldest = vault == choices.key_vault_ids[-1]
            key = f"secrets-key-{vault.rpartition('/')[2].lower()}"
            yield Right(key, CRYPTO_USER, vault, "secrets-key" if is_oldest else "")
        if choices.disk_encryption_set_id:
            yield Right("disk-key", READER, choices.disk_encryption_set_id)

    def _identity(self, part: str) -> UserAssignedIdentity:
        args = self._args
        return UserAssignedIdentity(
            f"{self._name}-{part}",
            resource_group_name=args.resource_group,
            resource_name_=self._physical(part),
            location=args.choices.location,
            tags=args.tags,
            opts=self.child(),
        )

    def _physical(self, part: str) -> str:
        # Contains the cluster, because Entra lists the identities of all clusters together.
        return f"{self._args.choices.name}-{part}"
