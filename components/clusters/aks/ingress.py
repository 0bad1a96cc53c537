"""Ways in to an AKS cluster: rights of external-dns on one zone, and what it reads in the cluster."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import pulumi
from pulumi_azure_native.managedidentity import FederatedIdentityCredential, UserAssignedIdentity
from pulumi_kubernetes.core.v1 import ConfigMap, Namespace

from components.base import PlatformComponent
from components.clusters.aks.identity import PRIVATE_DNS, READER, Grant, Principal, role_assignment
from components.contract.aks.access import PrincipalKind
from components.contract.aks.config import AksConfig
from components.contract.aks.dns_names import CONFIG_MAP
from components.contract.aks.identity import ISSUER_AUDIENCE
from components.contract.azure import group_of, is_private_zone, subscription_of
from components.contract.ingress import EXTERNAL_DNS
from components.contract.labels import WellKnownLabel
from components.ownership import owned

PUBLIC_DNS: Final = "befefa01-2a29-4197-83a8-272ff33ce314"
"""DNS Zone Contributor: https://learn.microsoft.com/azure/role-based-access-control/built-in-roles."""

RESTRICTED: Final = {
    WellKnownLabel.POD_SECURITY_ENFORCE.value: "restricted",
    WellKnownLabel.POD_SECURITY_ENFORCE_VERSION.value: "latest",
}
"""Labels of the namespace. The chart's pods comply with them: 2bf1bf8a ``charts/external-dns/values.yaml``."""


@dataclass(frozen=True, kw_only=True)
class DnsRightsArgs:
    """Inputs of the rights."""

    choices: AksConfig
    zone_id: str
    resource_group: pulumi.Input[str]
    issuer: pulumi.Input[str]
    """Address of the cluster's issuer of tokens."""
    tags: Mapping[str, str]


class DnsRights(PlatformComponent):
    """The identity of external-dns with roles on one zone, and the namespace with its configuration.

    kubernetes-sigs/external-dns 2bf1bf8a ``docs/tutorials/azure.md``. external-dns itself is not an add-on of AKS;
    `igz-clusters values --for external-dns` prints its values. It has a namespace of its own because the webhook
    that gives pods their tokens does not cover ``kube-system`` (Azure/azure-workload-identity#525).
    """

    def __init__(self, name: str, args: DnsRightsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("igz-clusters:clusters:AksDnsRights", name, None, opts)
        self._name, self._args = name, args
        identity = UserAssignedIdentity(
            name,
            resource_group_name=args.resource_group,
            resource_name_=f"{args.choices.name}-{EXTERNAL_DNS}",
            location=args.choices.location,
            tags=dict(args.tags),
            opts=self.child(),
        )
        credential = FederatedIdentityCredential(
            name,
            resource_group_name=args.resource_group,
            resource_name_=identity.name,
            federated_identity_credential_resource_name=EXTERNAL_DNS,
            issuer=args.issuer,
            subject=f"system:serviceaccount:{EXTERNAL_DNS}:{EXTERNAL_DNS}",
            audiences=[ISSUER_AUDIENCE],
            opts=self.child(),
        )
        self._configuration(identity, [credential, *self._roles(identity)])
        self.register_outputs({"clientId": identity.client_id})

    def _roles(self, identity: UserAssignedIdentity) -> list[pulumi.Resource]:
        zone = self._args.zone_id
        # Clusters may share a zone, so the names of role assignments contain the cluster.
        key = f"{self._args.choices.cluster_id} {EXTERNAL_DNS}"
        principal = Principal(key, identity.principal_id, PrincipalKind.SERVICE_PRINCIPAL)
        grants = {
            "zone": Grant(PRIVATE_DNS if is_private_zone(zone) else PUBLIC_DNS, zone),
            # external-dns lists the zones of a group to find this one.
            "group": Grant(READER, group_of(zone)),
        }
        return [
            role_assignment(f"{self._name}-{part}", principal, grant, self.child()) for part, grant in grants.items()
        ]

    def _configuration(self, identity: UserAssignedIdentity, needed: list[pulumi.Resource]) -> None:
        zone = self._args.zone_id
        facts = {
            "tenantId": self._args.choices.tenant_id,
            "subscriptionId": subscription_of(zone),
            "resourceGroup": group_of(zone).rpartition("/")[2],
            "useWorkloadIdentityExtension": True,
        }
        namespace = Namespace(
            f"{self._name}-namespace", metadata=owned(EXTERNAL_DNS, labels=RESTRICTED), opts=self.child()
        )
        ConfigMap(
            f"{self._name}-azure",
            metadata=owned(CONFIG_MAP, namespace=EXTERNAL_DNS),
            # The client id is here because the service account belongs to the chart: ``provider/azure/config.go``.
            data={"azure.json": identity.client_id.apply(lambda client: json.dumps({**facts, "aadClientId": client}))},
            opts=self.child(depends_on=[namespace, *needed]),
        )
