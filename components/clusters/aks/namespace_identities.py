"""Cloud identities of user namespaces: an identity in Entra per namespace, which trusts its service accounts."""

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
from pulumi_azure_native.managedidentity import FederatedIdentityCredential, UserAssignedIdentity

from components.base import PlatformComponent
from components.clusters.aks.identity import KEEPS_NAME, Grant, Principal, role_assignment
from components.contract.aks.access import PrincipalKind
from components.contract.aks.config import AksConfig
from components.contract.aks.identity import CLIENT_ID, ISSUER_AUDIENCE, USE_LABEL, assignments
from components.contract.identity import CloudIdentity
from components.contract.names import composed
from components.namespace_identity import NamespaceIdentity


@dataclass(frozen=True, kw_only=True)
class NamespaceIdentitiesArgs:
    """Inputs of the identities."""

    choices: AksConfig
    identities: Mapping[str, CloudIdentity]
    """By namespace."""
    resource_group: pulumi.Input[str]
    issuer: pulumi.Input[str]
    """Address of the cluster's issuer of tokens."""
    tags: Mapping[str, str]


class NamespaceIdentities(PlatformComponent):
    """A managed identity per namespace with its role assignments and a credential per service account."""

    by_namespace: Mapping[str, NamespaceIdentity]

    def __init__(self, name: str, args: NamespaceIdentitiesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("igz-clusters:clusters:AksNamespaceIdentities", name, None, opts)
        self._args = args
        self.by_namespace = {
            namespace: self._identity(name, namespace, identity) for namespace, identity in args.identities.items()
        }
        self.register_outputs({"clients": {name: each.facts["clientId"] for name, each in self.by_namespace.items()}})

    def _identity(self, name: str, namespace: str, identity: CloudIdentity) -> NamespaceIdentity:
        args = self._args
        made = UserAssignedIdentity(
            f"{name}-{namespace}",
            resource_group_name=args.resource_group,
            resource_name_=f"{args.choices.name}-jobs-{namespace}",
            location=args.choices.location,
            tags=dict(args.tags),
            opts=self.child(),
        )
        needed: list[pulumi.Resource] = []
        for account in identity.service_accounts:
            credential = FederatedIdentityCredential(
                f"{name}-{composed(namespace, account)}",
                resource_group_name=args.resource_group,
                resource_name_=made.name,
                # Azure requires at least 3 characters, Kubernetes one.
                federated_identity_credential_resource_name=f"account-{account}",
                issuer=args.issuer,
                subject=f"system:serviceaccount:{namespace}:{account}",
                audiences=[ISSUER_AUDIENCE],
                # Entra rejects parallel writes under one identity.
                opts=self.child(formerly=f"{name}-{namespace}-{account}", depends_on=needed[-1:]),
            )
            needed.append(credential)
        # Jobs of namespaces of the same name in several clusters may share a container.
        key = f"{args.choices.cluster_id} jobs-{namespace}"
        principal = Principal(key, made.principal_id, PrincipalKind.SERVICE_PRINCIPAL)
        for each in assignments(args.choices, identity):
            grant = Grant(each.role, each.scope, each.condition)
            opts = self.child(formerly="-".join((name, namespace, *each.parts)), **KEEPS_NAME)
            logical = f"{name}-{composed(namespace, each.kind, *each.parts)}"
            needed.append(role_assignment(logical, principal, grant, opts))
        return NamespaceIdentity(
            annotations={CLIENT_ID: made.client_id},
            pod_label=USE_LABEL,
            needed=tuple(needed),
            facts={"clientId": made.client_id},
        )
