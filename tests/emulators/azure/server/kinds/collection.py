"""Which logs of containers are collected, and of which clusters."""

from typing import Any, ClassVar

from typing_extensions import override

from emulators.azure.server.ids import ArmId
from emulators.azure.server.kinds.kind import Form, Kind, Tracked
from emulators.azure.server.refusals import bad_request
from emulators.azure.server.requests import Request
from emulators.azure.server.store import Resource
from emulators.core.refusal import Refusal


class _Extension(Form):
    extensionName: str  # noqa: N815 as it is on the wire, and all of these
    extensionSettings: dict[str, Any] | None = None  # noqa: N815
    inputDataSources: list[str] | None = None  # noqa: N815
    name: str
    streams: list[str]


class _Sources(Form):
    extensions: list[_Extension]


class _Workspace(Form):
    name: str
    workspaceResourceId: str  # noqa: N815


class _Destinations(Form):
    logAnalytics: list[_Workspace]  # noqa: N815


class _Flow(Form):
    streams: list[str]
    destinations: list[str]
    transformKql: str | None = None  # noqa: N815
    outputStream: str | None = None  # noqa: N815


class _RuleProperties(Form):
    description: str | None = None
    dataCollectionEndpointId: str | None = None  # noqa: N815
    dataSources: _Sources  # noqa: N815
    destinations: _Destinations
    dataFlows: list[_Flow]  # noqa: N815


class _Rule(Tracked):
    kind: str | None = None
    identity: dict[str, Any] | None = None
    properties: _RuleProperties


class CollectionRules(Kind):
    """``Microsoft.Insights/dataCollectionRules`` that collect by extensions into workspaces, and no others."""

    arm_type = "Microsoft.Insights/dataCollectionRules"
    token = "azure-native:monitor:DataCollectionRule"  # noqa: S105 a type
    version = "2022-06-01"
    form = _Rule
    is_tracked = True
    defaults: ClassVar = {"provisioningState": "Succeeded"}

    @override
    def check(self, request: Request, body: dict[str, Any], old: Resource | None) -> None:
        given = body["properties"]
        known = {each["name"] for each in given["destinations"]["logAnalytics"]}
        for workspace in given["destinations"]["logAnalytics"]:
            if self.store.find(workspace["workspaceResourceId"]) is None:
                told = f"The workspace '{workspace['workspaceResourceId']}' was not found."
                raise Refusal("InvalidPayload", 400, f"Data collection rule is invalid. {told}")
        for flow in given["dataFlows"]:
            if unknown := set(flow["destinations"]) - known:
                told = f"Destinations {', '.join(sorted(unknown))} of a flow are not there."
                raise Refusal("InvalidPayload", 400, f"Data collection rule is invalid. {told}")

    @override
    def check_delete(self, resource: Resource, going: ArmId | None = None) -> None:
        if users := self.store.users(resource.id, going):
            told = f"Data collection rule {resource.id.name} has the association {users[0].id.text}."
            raise Refusal("Conflict", 409, told)


class _AssociationProperties(Form):
    dataCollectionRuleId: str | None = None  # noqa: N815
    dataCollectionEndpointId: str | None = None  # noqa: N815
    description: str | None = None


class _Association(Form):
    properties: _AssociationProperties


class CollectionAssociations(Kind):
    """``Microsoft.Insights/dataCollectionRuleAssociations``."""

    arm_type = "Microsoft.Insights/dataCollectionRuleAssociations"
    token = "azure-native:monitor:DataCollectionRuleAssociation"  # noqa: S105 a type
    version = "2022-06-01"
    form = _Association
    is_extension = True

    @override
    def check(self, request: Request, body: dict[str, Any], old: Resource | None) -> None:
        rule = body["properties"].get("dataCollectionRuleId")
        if not rule:
            raise bad_request("The Azure emulator knows associations with a dataCollectionRuleId alone.")
        if self.store.find(rule) is None:
            raise Refusal("InvalidAssociation", 400, f"The data collection rule '{rule}' was not found.")
