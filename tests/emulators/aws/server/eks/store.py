"""What EKS keeps: every resource in the words of EKS's own API, so that what was sent is what is read back."""

import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, Protocol

from emulators.aws.server import ACCOUNT, REGION
from emulators.aws.server.circumstances import Circumstances
from emulators.aws.server.eks.reachability import barrier
from emulators.aws.server.eks.refusals import not_found
from emulators.core.clock import Clock
from emulators.core.doors import Doors, Place
from emulators.core.fault_outcome import FaultOutcome, HealthIssue


def arn(kind: str, *parts: str) -> str:
    """Return an ARN of EKS: https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonelastickubernetesservice.html."""
    return f"arn:aws:eks:{REGION}:{ACCOUNT}:{'/'.join((kind, *parts))}"


def new_id() -> str:
    """Return the random end of an ARN, or the id of an update."""
    return str(uuid.uuid4())


def now() -> datetime:
    """Return the time that an answer gives for what happens now."""
    return datetime.now(UTC).replace(microsecond=0)


@dataclass(frozen=True)
class Request:
    """One call: what is asked, and what becomes of the work that it begins."""

    operation: str
    params: Mapping[str, Any]
    outcome: FaultOutcome

    def __getitem__(self, name: str) -> Any:
        """Return a member that the model requires."""
        return self.params[name]

    def get(self, name: str, default: Any = None) -> Any:
        """Return an optional member."""
        return self.params.get(name, default)

    def kept(self, *names: str) -> dict[str, Any]:
        """Return the members of these names that were given."""
        return {name: self.params[name] for name in names if name in self.params}


class EksResource(Protocol):
    """Some of EKS's operations."""

    def operations(self) -> Mapping[str, Callable[[Request], dict[str, Any]]]:
        """Return what handles each operation, by its name in botocore's model."""
        ...


@dataclass
class Resource:
    """Something that EKS keeps."""

    body: dict[str, Any]
    """As a Describe answers with it."""
    work: object = None
    """The work under way. A newer one takes its place, and the older one then ends without effect."""
    is_made_by_eks: bool = False
    """It was not requested by name, so no state has it."""

    @property
    def status(self) -> str:
        """The state in EKS's words."""
        return str(self.body["status"])


@dataclass
class Entry(Resource):
    """An access entry with the policies associated with it, by ARN."""

    policies: dict[str, dict[str, Any]] = field(default_factory=dict)


@dataclass
class Update(Resource):
    """An update of the cluster, or of its node group or add-on that is named here."""

    group: str | None = None
    addon: str | None = None


@dataclass
class Cluster(Resource):
    """A cluster and what is in it, by name; associations by id."""

    groups: dict[str, Resource] = field(default_factory=dict)
    addons: dict[str, Resource] = field(default_factory=dict)
    entries: dict[str, Entry] = field(default_factory=dict)
    associations: dict[str, Resource] = field(default_factory=dict)
    updates: dict[str, Update] = field(default_factory=dict)
    interfaces: tuple[str, ...] = ()
    """Network interfaces of the control plane in the cluster's subnets."""
    zones: frozenset[str] = frozenset()
    """Zones of the subnets with which the cluster was made; none is added or given up."""
    self_managed: frozenset[str] = frozenset()
    """Add-ons that EKS put into the cluster when it was made, without managing them."""
    upgraded: tuple[str, datetime] | None = None
    """The version before the last upgrade, and when that was done."""

    @property
    def name(self) -> str:
        """The cluster's name."""
        return str(self.body["name"])

    @property
    def version(self) -> str:
        """The control plane's minor version, such as ``1.35``."""
        return str(self.body["version"])


_ADDON_NOT_FOUND: Final = "No addon: {} found in cluster: {}"


class Store:
    """All clusters, and how work on what they hold ends."""

    def __init__(self, clock: Clock) -> None:
        self.clusters: dict[str, Cluster] = {}
        self.circumstances = Circumstances()
        self.doors = Doors(self._barrier)
        self.unwritten: set[str] = set()
        """Names of clusters that are gone and wrote logs to the end."""
        self._clock = clock

    def cluster(self, name: str) -> Cluster:
        """Return a cluster or refuse."""
        if name not in self.clusters:
            raise not_found(f"No cluster found for name: {name}.")
        return self.clusters[name]

    def group(self, request: Request) -> tuple[Cluster, Resource]:
        """Return the node group that a request is about, or refuse."""
        cluster, name = self.cluster(request["clusterName"]), request["nodegroupName"]
        if name not in cluster.groups:
            raise not_found(f"No node group found for name: {name}.")
        return cluster, cluster.groups[name]

    def addon(self, request: Request) -> tuple[Cluster, Resource]:
        """Return the add-on that a request is about, or refuse."""
        cluster, name = self.cluster(request["clusterName"]), request["addonName"]
        if name not in cluster.addons:
            raise not_found(_ADDON_NOT_FOUND.format(name, cluster.name))
        return cluster, cluster.addons[name]

    def everything(self) -> Iterator[tuple[str, Resource]]:
        """Return all that can have tags, by ARN."""
        for cluster in self.clusters.values():
            yield cluster.body["arn"], cluster
            yield from ((group.body["nodegroupArn"], group) for group in cluster.groups.values())
            yield from ((addon.body["addonArn"], addon) for addon in cluster.addons.values())
            yield from ((entry.body["accessEntryArn"], entry) for entry in cluster.entries.values())
            yield from ((each.body["associationArn"], each) for each in cluster.associations.values())

    def _barrier(self, name: str, place: Place) -> str:
        if name not in self.clusters:
            raise LookupError(f"there is no cluster {name}")
        return barrier(name, self.clusters[name].body["resourcesVpcConfig"], place)

    def begin(
        self,
        request: Request,
        resource: Resource,
        done: Callable[[], None],
        failed: Callable[[tuple[HealthIssue, ...]], None],
    ) -> None:
        """Let EKS work on a resource as long as it does, and as the request's outcome has it.

        Parameters
        ----------
        done, failed
            What becomes of the resource; exactly one of them is called, and neither if the work is stuck or a newer
            one has taken its place. In an answer the resource is still as before, so copy it first.
        """
        resource.work = work = object()

        def finish() -> None:
            if resource.work is work:
                resource.work = None
                if request.outcome.issues:
                    failed(request.outcome.issues)
                else:
                    done()

        if not request.outcome.is_stuck:
            self._clock.later(f"eks:{request.operation}", finish)


def issue_members(issues: tuple[HealthIssue, ...], *resources: str) -> list[dict[str, Any]]:
    """Return health issues as a Describe shows them."""
    return [{"code": issue.code, "message": issue.message, "resourceIds": list(resources)} for issue in issues]
