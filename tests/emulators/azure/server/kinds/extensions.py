"""Extensions of clusters, and who of Azure's services may enter one.

Sources: Azure/azure-rest-api-specs, Microsoft.KubernetesConfiguration 2023-05-01, ``extensions.json``;
https://learn.microsoft.com/azure/aks/trusted-access-feature. The first extension of a cluster makes AKS install its
manager: https://learn.microsoft.com/azure/backup/azure-kubernetes-service-cluster-backup-concept. Assumed are that
this is a change of the cluster, beside which others are refused, and the codes of refusals.
"""

import uuid
from typing import Any, Final

from pydantic import Field
from typing_extensions import override

from emulators.azure.server import TENANT
from emulators.azure.server.aks import egress
from emulators.azure.server.aks.busy import refuse_beside
from emulators.azure.server.ids import CLUSTER, ArmId
from emulators.azure.server.kinds.identity import IDENTITY
from emulators.azure.server.kinds.kind import Form, Kind
from emulators.azure.server.refusals import bad_request, busy
from emulators.azure.server.requests import Request
from emulators.azure.server.store import Resource

EXTENSION: Final = "Microsoft.KubernetesConfiguration/extensions"
BINDING: Final = f"{CLUSTER}/trustedAccessRoleBindings"


class _ClusterScope(Form):
    releaseNamespace: str = ""  # noqa: N815 as it is on the wire, and all of these


class _Scope(Form):
    cluster: _ClusterScope


class _Properties(Form):
    extensionType: str  # noqa: N815
    autoUpgradeMinorVersion: bool = True  # noqa: N815
    releaseTrain: str = "Stable"  # noqa: N815
    scope: _Scope
    configurationSettings: dict[str, str] = Field(default_factory=dict)  # noqa: N815


class _Extension(Form):
    properties: _Properties


class Extensions(Kind):
    """``Microsoft.KubernetesConfiguration/extensions`` of clusters; each has an identity beside the nodes."""

    arm_type = EXTENSION
    token = "azure-native:kubernetesconfiguration:Extension"  # noqa: S105 a type
    version = "2023-05-01"
    form = _Extension
    is_extension = True
    takes_time = True

    @override
    def check(self, request: Request, body: dict[str, Any], old: Resource | None) -> None:
        super().check(request, body, old)
        cluster = self.store.get(ArmId(request.id.scope))
        refuse_beside(self.store, cluster)
        egress.check_extension(cluster.properties, body["properties"]["extensionType"])

    @override
    def completed(self, body: dict[str, Any], id_: ArmId, old: Resource | None) -> dict[str, Any]:
        identity = old.properties["aksAssignedIdentity"] if old else self._identity(id_)
        return {"properties": {**body["properties"], "aksAssignedIdentity": identity, "isSystemExtension": False}}

    def _identity(self, extension: ArmId) -> dict[str, str]:
        cluster = self.store.get(ArmId(extension.scope))
        group = f"/subscriptions/{extension.subscription}/resourceGroups/{cluster.properties['nodeResourceGroup']}"
        own = {"tenantId": TENANT, "principalId": str(uuid.uuid4()), "clientId": str(uuid.uuid4())}
        id_ = ArmId(f"{group}/providers/{IDENTITY}/ext-{extension.name}-{cluster.id.name}")
        body = {"location": cluster.body["location"], "properties": own}
        self.store.add(Resource(id_, IDENTITY, body, is_made_by_azure=True))
        return {"type": "UserAssigned", "principalId": own["principalId"], "tenantId": TENANT}


class Bindings(Kind):
    """``Microsoft.ContainerService/managedClusters/trustedAccessRoleBindings``: a change of the cluster."""

    arm_type = BINDING
    token = "azure-native:containerservice:TrustedAccessRoleBinding"  # noqa: S105 a type
    version = "2025-09-01"
    form = ("azure.mgmt.containerservice", "TrustedAccessRoleBinding")
    names = r"[A-Za-z0-9-]{1,24}"
    takes_time = True

    @override
    def check(self, request: Request, body: dict[str, Any], old: Resource | None) -> None:
        super().check(request, body, old)
        cluster = self.store.get(request.id.above.above)
        refuse_beside(self.store, cluster)
        if any(each.work for each in self.store.below(cluster.id, EXTENSION)):
            raise busy("operation (Updating)")
        source = ArmId(body["properties"]["sourceResourceId"])
        if self.store.knows(source.type) and self.store.find(source) is None:
            raise bad_request(f"The source resource {source.text} of a trusted access role binding was not found.")
        for role in body["properties"]["roles"]:
            if role.lower().rpartition("/")[0] != source.type.lower():
                raise bad_request(f"The role {role} is not one of {source.type}.")
