"""Where logs go."""

import re
from typing import Any, ClassVar, Literal

from pydantic import Field
from typing_extensions import override

from emulators.azure.server.ids import ArmId
from emulators.azure.server.kinds.kind import Form, Kind, Tracked
from emulators.azure.server.requests import Request
from emulators.azure.server.store import Resource
from emulators.core.refusal import Refusal


class _Sku(Form):
    name: Literal[
        "CapacityReservation", "Free", "LACluster", "PerGB2018", "PerNode", "Premium", "Standalone", "Standard"
    ]
    capacityReservationLevel: int = 0  # noqa: N815 as it is on the wire, and all of these


class _Cap(Form):
    dailyQuotaGb: float  # noqa: N815


class _Features(Form):
    disableLocalAuth: bool = False  # noqa: N815
    enableDataExport: bool = False  # noqa: N815
    enableLogAccessUsingOnlyResourcePermissions: bool = False  # noqa: N815
    immediatePurgeDataOn30Days: bool = False  # noqa: N815
    clusterResourceId: str = ""  # noqa: N815


class _WorkspaceProperties(Form):
    sku: _Sku = Field(default=_Sku(name="PerGB2018"))
    retentionInDays: int = Field(default=30, ge=-1, le=730)  # noqa: N815
    workspaceCapping: _Cap | None = None  # noqa: N815
    publicNetworkAccessForIngestion: Literal["Enabled", "Disabled"] = "Enabled"  # noqa: N815
    publicNetworkAccessForQuery: Literal["Enabled", "Disabled"] = "Enabled"  # noqa: N815
    forceCmkForQuery: bool = False  # noqa: N815
    features: _Features = _Features()
    defaultDataCollectionRuleResourceId: str = ""  # noqa: N815


class _Workspace(Tracked):
    properties: _WorkspaceProperties = _WorkspaceProperties()
    identity: dict[str, Any] | None = None


class Workspaces(Kind):
    """``Microsoft.OperationalInsights/workspaces``. One that is removed is gone at once, and not kept for two weeks."""

    arm_type = "Microsoft.OperationalInsights/workspaces"
    token = "azure-native:operationalinsights:Workspace"  # noqa: S105 a type
    version = "2023-09-01"
    form = _Workspace
    names = r"[A-Za-z0-9][-A-Za-z0-9]{2,61}[A-Za-z0-9]"
    is_tracked = True
    takes_time = True
    defaults: ClassVar = {
        "sku": {"name": "PerGB2018"},
        "retentionInDays": 30,
        "features": {"enableLogAccessUsingOnlyResourcePermissions": True},
        "publicNetworkAccessForIngestion": "Enabled",
        "publicNetworkAccessForQuery": "Enabled",
        "workspaceCapping": {"dailyQuotaGb": -1.0},
    }


class _Retention(Form):
    enabled: bool
    days: int


class _Log(Form):
    category: str | None = None
    categoryGroup: str | None = None  # noqa: N815
    enabled: bool
    retentionPolicy: _Retention | None = None  # noqa: N815


class _Metric(Form):
    category: str | None = None
    enabled: bool
    timeGrain: str | None = None  # noqa: N815
    retentionPolicy: _Retention | None = None  # noqa: N815


class _SettingProperties(Form):
    workspaceId: str | None = None  # noqa: N815
    storageAccountId: str | None = None  # noqa: N815
    serviceBusRuleId: str | None = None  # noqa: N815
    eventHubAuthorizationRuleId: str | None = None  # noqa: N815
    eventHubName: str | None = None  # noqa: N815
    marketplacePartnerId: str | None = None  # noqa: N815
    logAnalyticsDestinationType: str | None = None  # noqa: N815
    logs: list[_Log] = Field(default_factory=list)
    metrics: list[_Metric] = Field(default_factory=list)


class _Setting(Form):
    properties: _SettingProperties


CATEGORIES = frozenset(
    {
        "cloud-controller-manager",
        "cluster-autoscaler",
        "csi-azuredisk-controller",
        "csi-azurefile-controller",
        "csi-snapshot-controller",
        "fleet-mcs-controller-manager",
        "fleet-member-agent",
        "fleet-member-net-controller-manager",
        "guard",
        "kube-apiserver",
        "kube-audit",
        "kube-audit-admin",
        "kube-controller-manager",
        "kube-scheduler",
        "karpenter-events",
    }
)
"""Of an AKS cluster: https://learn.microsoft.com/azure/aks/monitor-aks-reference."""

CATEGORY_GROUPS = frozenset({"allLogs", "audit"})


class DiagnosticSettings(Kind):
    """``Microsoft.Insights/diagnosticSettings``."""

    arm_type = "Microsoft.Insights/diagnosticSettings"
    token = "azure-native:monitor:DiagnosticSetting"  # noqa: S105 a type
    version = "2021-05-01-preview"
    form = _Setting
    is_extension = True
    names = r"[^*<>%:&\\?+/]{1,260}"

    @override
    def check(self, request: Request, body: dict[str, Any], old: Resource | None) -> None:
        given = body["properties"]
        workspace = given.get("workspaceId")
        sinks = ("storageAccountId", "eventHubAuthorizationRuleId", "marketplacePartnerId")
        if not workspace and not any(given.get(sink) for sink in sinks):
            raise Refusal("BadRequest", 400, "At least one data sink needs to be specified.")
        if workspace and self.store.find(ArmId(workspace)) is None:
            raise Refusal("ResourceNotFound", 404, f"The workspace '{workspace}' was not found.")
        for log in given.get("logs", []):
            group, category = log.get("categoryGroup"), log.get("category")
            if category and category not in CATEGORIES:
                raise Refusal("BadRequest", 400, f"Category '{category}' is not supported.")
            if group and group not in CATEGORY_GROUPS:
                raise Refusal("BadRequest", 400, f"Category group '{group}' is not supported.")
            if bool(group) == bool(category):
                raise Refusal("BadRequest", 400, "A log needs either a category or a category group.")
        if not re.search(r"/managedclusters/[^/]+$", request.id.scope.lower()):
            told = "The Azure emulator knows diagnostic settings of AKS clusters, and of nothing else."
            raise Refusal("NotImplemented", 501, told)
