"""What ARM does with resources of every type: PUT, GET, DELETE, lists and actions, and operations that go on."""

from collections.abc import Mapping
from http import HTTPMethod, HTTPStatus
from typing import Any, Final, TypeAlias

from emulators.azure.server.aks.clusters import Clusters
from emulators.azure.server.aks.maintenance import MaintenanceConfigurations
from emulators.azure.server.aks.pools import Pools
from emulators.azure.server.ids import GROUP, SUBSCRIPTION, ArmId
from emulators.azure.server.kinds.addresses import NatGateways, PublicAddresses
from emulators.azure.server.kinds.backup import Instances, Jobs, Policies, Vaults
from emulators.azure.server.kinds.backup_points import Points
from emulators.azure.server.kinds.collection import CollectionAssociations, CollectionRules
from emulators.azure.server.kinds.disks import DiskEncryptionSets
from emulators.azure.server.kinds.extensions import Bindings, Extensions
from emulators.azure.server.kinds.groups import Groups
from emulators.azure.server.kinds.identity import Assignments, Credentials, Identities, Roles, allows
from emulators.azure.server.kinds.kind import Kind
from emulators.azure.server.kinds.monitoring import DiagnosticSettings, Workspaces
from emulators.azure.server.kinds.network import Peerings, SecurityGroups, Subnets, VirtualNetworks
from emulators.azure.server.kinds.placement import PlacementGroups
from emulators.azure.server.kinds.private_dns import Links, Zones
from emulators.azure.server.kinds.route_tables import RouteTables
from emulators.azure.server.kinds.storage import Accounts, Containers, FileServices, Shares
from emulators.azure.server.kinds.workflows import Post, Workflows
from emulators.azure.server.requests import Request
from emulators.azure.server.store import FAILED, Operation, Resource, Store
from emulators.core.answers import Answer, json_answer
from emulators.core.fault_outcome import HealthIssue
from emulators.core.refusal import Refusal
from emulators.core.service_context import ServiceContext

OPERATIONS: Final = "operations"
RESULTS: Final = "operationresults"

Issues: TypeAlias = tuple[HealthIssue, ...]


class Resources:
    """All types, and everything of them that exists.

    Parameters
    ----------
    context
        The clock, and the API server that clusters lead to.
    """

    def __init__(self, context: ServiceContext) -> None:
        self.store = store = Store(context.clock)
        pools, self.workflows, self.points = Pools(store), Workflows(store), Points(store)
        self.clusters = Clusters(store, pools, context.control_plane)
        plain = (
            *(SecurityGroups(store), PublicAddresses(store), NatGateways(store), VirtualNetworks(store)),
            *(
                RouteTables(store),
                Subnets(store),
                Identities(store),
                Credentials(store),
                Assignments(store),
                Workspaces(store),
            ),
            DiagnosticSettings(store),
            *(CollectionRules(store), CollectionAssociations(store), Peerings(store), Zones(store), Links(store)),
            *(DiskEncryptionSets(store), pools, self.clusters, MaintenanceConfigurations(store)),
            *(Roles(store), self.workflows, PlacementGroups(store)),
            *(Accounts(store), FileServices(store), Shares(store), Containers(store)),
            *(Extensions(store), Bindings(store), Vaults(store), Policies(store), Instances(store), self.points),
            Jobs(store),
        )
        self._kinds: dict[str, Kind] = {kind.arm_type.lower(): kind for kind in plain}
        self._kinds[GROUP.lower()] = Groups(store, dict(self._kinds))
        store.types = set(self._kinds)

    def handle(self, request: Request) -> Answer:
        """Do what is asked for.

        Raises
        ------
        Refusal
            ARM or the type does not allow it.
        """
        if request.id.type.rpartition("/")[2].lower() in {OPERATIONS, RESULTS}:
            return self._status(request)
        if request.method is HTTPMethod.GET:
            return self._get(request)
        kind = self._kind(request)
        if request.method is HTTPMethod.PUT:
            return self._put(kind, request)
        if request.method is HTTPMethod.DELETE:
            return self._delete(kind, request)
        return self._act(kind, request)

    def _get(self, request: Request) -> Answer:
        if (known := self._overview(request.id)) is not None:
            return json_answer(HTTPStatus.OK, known)
        kind = self._kind(request)
        if not request.id.is_whole:
            return self._list(kind, request)
        return json_answer(HTTPStatus.OK, self._told(kind, self.store.get(kind.id_of(request.id))))

    def _overview(self, id_: ArmId) -> dict[str, Any] | None:
        """Return a subscription, or all that lies in a resource group; None if neither is asked for.

        A part of something else, and what extends it, are not in the list. Every subscription is there.
        """
        if id_.type.lower() == SUBSCRIPTION.lower():
            return {"id": id_.text, "subscriptionId": id_.name, "state": "Enabled"}
        if id_.type.lower() != f"{GROUP.partition('/')[0]}/resources".lower():
            return None
        group = id_.above
        if self.store.find(group) is None:
            raise self.store.missing(group)
        inside = [each for each in self.store.all() if each.id.is_in(group) and ArmId(each.id.scope).key == group.key]
        listed = [each for each in inside if each.id.parent is None]
        tags = [each.body.get("tags") or {} for each in listed]
        return {
            "value": [
                {"id": each.id.text, "name": each.id.name, "type": each.type, "tags": known}
                for each, known in zip(listed, tags, strict=True)
            ]
        }

    def inventory(self) -> Mapping[str, list[str]]:
        """Return the ids of what exists: by Pulumi's types, and by Azure's what Azure made by itself."""
        found: dict[str, list[str]] = {}
        for each in self.store.all():
            kind = self._kinds.get(each.type.lower())
            type_ = each.type if each.is_made_by_azure or kind is None else kind.token
            found.setdefault(type_, []).append(each.id.text)
        return {type_: sorted(ids) for type_, ids in sorted(found.items())}

    def _kind(self, request: Request) -> Kind:
        kind = self._kinds.get(request.id.type.lower())
        if kind is None:
            told = f"The resource type '{request.id.type}' could not be found: the Azure emulator has none such."
            raise Refusal("InvalidResourceType", 404, told)
        if request.version != kind.version:
            told = (
                f"No registered resource provider found for API version '{request.version}' for type '{kind.arm_type}'."
            )
            raise Refusal("NoRegisteredProviderFound", 400, f"{told} The supported api-versions are '{kind.version}'.")
        return kind

    def _put(self, kind: Kind, request: Request) -> Answer:
        old = self.store.find(kind.id_of(request.id))
        kind.require_home(request.id)
        body = kind.read(request)
        _check_place(kind, request, body, old)
        kind.check(request, body, old)
        if old and old.state == "Deleting":
            raise Refusal("ResourceIsBeingDeleted", 409, f"{old.id.text} is being deleted.")
        verb = kind.verb(body, old)
        kept = kind.completed(body, request.id, old)
        resource = old or Resource(kind.id_of(request.id), kind.arm_type, kept)
        resource.body = kept
        status = HTTPStatus.OK if old else HTTPStatus.CREATED
        self.store.add(resource)
        kind.written(resource, is_new=old is None)
        while self.workflows.at_once:
            self.send(self.workflows.at_once.pop())
        if not kind.takes_time:
            return json_answer(status, self._told(kind, resource))
        resource.state = {"create": "Creating", "update": "Updating", "upgrade": "Upgrading"}[verb]
        if kind is self.clusters:
            self.clusters.begun(resource, body["properties"].get("agentPoolProfiles") or [])
        told = self._told(kind, resource)

        def end(issues: Issues) -> Issues:
            if issues:
                kind.failed(resource, issues)
            else:
                kind.made(resource)
            return issues

        operation = self.store.begin(resource, verb, request.outcome, end)
        return json_answer(status, told, **self._headers(request, operation, OPERATIONS))

    def _delete(self, kind: Kind, request: Request) -> Answer:
        found = self.store.find(kind.id_of(request.id))
        if found is None:
            if kind.arm_type == GROUP:
                raise self.store.missing(request.id)
            return Answer(HTTPStatus.NO_CONTENT, {}, b"")
        if found.state == "Deleting" and found.work:
            return Answer(HTTPStatus.ACCEPTED, self._both(kind, request, found.work), b"")
        kind.check_delete(found)
        if not (kind.takes_time or kind.arm_type == GROUP):
            told = self._told(kind, found)
            kind.gone(found)
            return json_answer(HTTPStatus.OK, told)
        found.state = "Deleting"

        def end(issues: Issues) -> Issues:
            reasons = issues or tuple(kind.gone(found))
            if reasons:
                kind.failed(found, reasons)
            return reasons

        operation = self.store.begin(found, "delete", request.outcome, end)
        return Answer(HTTPStatus.ACCEPTED, self._both(kind, request, operation), b"")

    def _act(self, kind: Kind, request: Request) -> Answer:
        handler = kind.actions().get(request.action.lower())
        if handler is None:
            told = f"The Azure emulator has no action '{request.action}' of {kind.arm_type}."
            raise Refusal("NotImplemented", 501, told)
        result = handler(request)
        if isinstance(result, Operation):
            return Answer(HTTPStatus.ACCEPTED, self._both(kind, request, result), b"")
        return json_answer(HTTPStatus.OK, result)

    def send(self, post: Post) -> str:
        """Do what a workflow asks for, and return the workflow's name and what became of it."""
        name, about = ArmId(post.workflow).name, post.target
        request = Request(HTTPMethod.POST, about, post.action, post.version, {}, {}, "http://127.0.0.1")
        if not allows(self.store, post.principal, request.operation, about):
            return f"{name} AuthorizationFailed"
        try:
            self.handle(request)
        except Refusal as error:
            return f"{name} {error.code}"
        return f"{name} Succeeded"

    def _list(self, kind: Kind, request: Request) -> Answer:
        inside = request.id.above if kind.arm_type == GROUP else _holder(request.id, kind)
        if kind.arm_type != GROUP and self.store.knows(inside.type) and self.store.find(inside) is None:
            raise self.store.missing(inside)
        there = [each for each in self.store.all(kind.arm_type) if each.id.is_in(inside)]
        return json_answer(HTTPStatus.OK, {"value": [self._told(kind, each) for each in there]})

    def _told(self, kind: Kind, resource: Resource) -> dict[str, Any]:
        return {
            "id": resource.id.text,
            "name": resource.id.name,
            "type": resource.type,
            **kind.shown(resource),
        }

    def _status(self, request: Request) -> Answer:
        operation = self.store.operations.get(request.id.name)
        if operation is None:
            raise Refusal("NotFound", 404, f"There is no operation {request.id.name}.")
        if request.id.type.lower().endswith(OPERATIONS):
            return json_answer(HTTPStatus.OK, _progress(operation))
        if operation.status == "InProgress":
            return Answer(HTTPStatus.ACCEPTED, self._headers(request, operation, RESULTS, "Location"), b"")
        if operation.status != FAILED:
            return json_answer(HTTPStatus.OK, {})
        raise Refusal(operation.issues[0].code, 409, operation.issues[0].message)

    def _both(self, kind: Kind, request: Request, operation: Operation) -> dict[str, str]:
        location = self._headers(request, operation, RESULTS, "Location")
        return location if kind.arm_type == GROUP else {**self._headers(request, operation, OPERATIONS), **location}

    def _headers(
        self, request: Request, operation: Operation, word: str, header: str = "Azure-AsyncOperation"
    ) -> dict[str, str]:
        """Return the header with the address where an operation is told."""
        namespace = operation.type.partition("/")[0]
        below = "" if operation.type == GROUP else f"/providers/{namespace}/locations/global"
        path = f"/subscriptions/{request.id.subscription}{below}/{word}/{operation.id}"
        return {header: f"{request.address}{path}?api-version={request.version}", "Retry-After": "0"}


def _check_place(kind: Kind, request: Request, body: dict[str, Any], old: Resource | None) -> None:
    if not kind.is_tracked:
        return
    wanted = body.get("location")
    if not wanted:
        raise Refusal("LocationRequired", 400, f"The location property is required for '{request.id.name}'.")
    if old and old.body["location"].lower() != wanted.lower():
        told = f"The resource '{request.id.name}' already exists in location '{old.body['location']}'."
        but = f"A resource with the same name cannot be created in location '{wanted}'."
        raise Refusal("InvalidResourceLocation", 409, f"{told} {but}")


def _holder(asked: ArmId, kind: Kind) -> ArmId:
    """Return what a list is of: the parent, the extended resource, the resource group or the subscription."""
    return ArmId(asked.scope) if kind.is_extension or "/" not in asked.type.partition("/")[2] else asked.above


def _progress(operation: Operation) -> dict[str, Any]:
    told: dict[str, Any] = {"id": operation.id, "name": operation.id, "status": operation.status}
    told["startTime"] = operation.started
    if operation.ended:
        told["endTime"] = operation.ended
    if operation.issues:
        told["error"] = {"code": operation.issues[0].code, "message": operation.issues[0].message}
    return told
