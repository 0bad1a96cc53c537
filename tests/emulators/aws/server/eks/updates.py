"""Updates: how a change runs, and what EKS returns about it."""

import json
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from emulators.aws.server.eks.pages import page
from emulators.aws.server.eks.refusals import not_found
from emulators.aws.server.eks.store import Cluster, Request, Resource, Store, Update, new_id, now
from emulators.core.fault_outcome import HealthIssue


@dataclass(frozen=True, kw_only=True)
class Change:
    """What an update does.

    Parameters
    ----------
    resource
        The cluster itself, or its node group or add-on that ``group`` or ``addon`` names.
    type
        As ``eks:Update.type`` lists them.
    params
        What the update says that it changes, by kind.
    apply
        Makes the change once EKS is done.
    status_if_failed
        State of the resource after an update that failed: it is as it was before.
    """

    cluster: Cluster
    resource: Resource
    type: str
    params: Mapping[str, Any]
    apply: Callable[[], None]
    group: str | None = None
    addon: str | None = None
    status_if_failed: str = "ACTIVE"


def start(store: Store, request: Request, change: Change) -> dict[str, Any]:
    """Begin an update and return the answer that has its id."""
    resource = change.resource
    update = Update(
        {
            "id": new_id(),
            "status": "InProgress",
            "type": change.type,
            "params": [{"type": kind, "value": _text(value)} for kind, value in change.params.items()],
            "createdAt": now(),
            "errors": [],
        },
        group=change.group,
        addon=change.addon,
    )
    change.cluster.updates[update.body["id"]] = update
    resource.body["status"] = "UPDATING"
    answer = deepcopy(update.body)

    def done() -> None:
        change.apply()
        resource.body.update(status="ACTIVE")
        if "modifiedAt" in resource.body:
            resource.body["modifiedAt"] = now()
        update.body["status"] = "Successful"

    def failed(issues: tuple[HealthIssue, ...]) -> None:
        resource.body["status"] = change.status_if_failed
        update.body["status"] = "Failed"
        update.body["errors"] = [{"errorCode": issue.code, "errorMessage": issue.message} for issue in issues]

    store.begin(request, resource, done, failed)
    return {"update": answer}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


class Updates:
    """DescribeUpdate and ListUpdates."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def operations(self) -> Mapping[str, Callable[[Request], dict[str, Any]]]:
        """Return what handles each operation."""
        return {"DescribeUpdate": self.describe, "ListUpdates": self.list}

    def describe(self, request: Request) -> dict[str, Any]:
        """Return an update; that of a node group or an add-on is found with its name only."""
        for update in self._of(request):
            if update.body["id"] == request["updateId"]:
                return {"update": update.body}
        raise not_found(f"No update found for ID: {request['updateId']}")

    def list(self, request: Request) -> dict[str, Any]:
        """Return the ids of all updates of the cluster, or of the node group or add-on that is named."""
        return page(request, "updateIds", [update.body["id"] for update in self._of(request)])

    def _of(self, request: Request) -> Iterable[Update]:
        cluster = self._store.cluster(request["name"])
        about = request.get("nodegroupName"), request.get("addonName")
        return [update for update in cluster.updates.values() if (update.group, update.addon) == about]
