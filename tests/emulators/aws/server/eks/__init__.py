"""EKS: clusters, node groups, add-ons, access and pod identity, with their states over time and what is refused."""

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any, Final

from emulators.aws.server.circumstances import Circumstances
from emulators.aws.server.eks.access import Access
from emulators.aws.server.eks.account import log_group, receive_logs
from emulators.aws.server.eks.addon_catalogue import AddonCatalogue
from emulators.aws.server.eks.addons import Addons
from emulators.aws.server.eks.cluster_updates import ClusterUpdates
from emulators.aws.server.eks.clusters import Clusters
from emulators.aws.server.eks.insights import Insights
from emulators.aws.server.eks.node_group_updates import NodeGroupUpdates
from emulators.aws.server.eks.node_groups import NodeGroups
from emulators.aws.server.eks.pod_credentials import PodCredentials
from emulators.aws.server.eks.pod_identity import PodIdentity
from emulators.aws.server.eks.refusals import invalid_request
from emulators.aws.server.eks.store import EksResource, Request, Store
from emulators.aws.server.eks.tags import Tags, check
from emulators.aws.server.eks.updates import Updates
from emulators.aws.server.eks.versions import Versions
from emulators.core.doors import Doors
from emulators.core.fault_outcome import AS_USUAL, FaultOutcome
from emulators.core.service_context import ServiceContext

_TOKEN: Final = "clientRequestToken"  # noqa: S105 a request's name for itself


class Eks:
    """The service, as ``server/service.py`` describes one."""

    def __init__(self, context: ServiceContext) -> None:
        self._store = store = Store(context.clock)
        parts: list[EksResource] = [
            *(Clusters(store, context.control_plane), ClusterUpdates(store), Versions()),
            *(NodeGroups(store), NodeGroupUpdates(store), Addons(store), AddonCatalogue()),
            *(Access(store), PodIdentity(store), PodCredentials(store), Updates(store), Insights(store), Tags(store)),
        ]
        self._handlers: dict[str, Callable[[Request], dict[str, Any]]] = {}
        for part in parts:
            self._handlers.update(part.operations())
        self._answered: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {}

    def handle(self, operation: str, params: dict[str, Any], outcome: FaultOutcome = AS_USUAL) -> dict[str, Any]:
        """Do what a request asks for and return the members of the answer.

        A request that comes a second time with its token does nothing and gets the first answer again.
        """
        if operation not in self._handlers:
            raise NotImplementedError(f"eks:{operation}")
        token = params.get(_TOKEN)
        if token in self._answered:
            return self._repeated(token, operation, params)
        check(
            params.get("tags", {}), "BadRequestException" if operation == "TagResource" else "InvalidParameterException"
        )
        answer = deepcopy(self._handlers[operation](Request(operation, params, outcome)))
        if token:
            self._answered[token] = (operation, deepcopy(params), deepcopy(answer))
        return answer

    @property
    def doors(self) -> Doors:
        """The addresses of clusters."""
        return self._store.doors

    def set_circumstances(self, circumstances: Circumstances) -> None:
        """Let these circumstances hold from now on."""
        self._store.circumstances = circumstances

    def follow(self, operation: str, params: Mapping[str, Any]) -> None:
        """Write the last logs of a cluster that is gone, if its log group was deleted and logs come late."""
        if operation == "logs:DeleteLogGroup" and self._store.circumstances.has_late_logs:
            for cluster in [name for name in self._store.unwritten if log_group(name) == params["logGroupName"]]:
                self._store.unwritten.remove(cluster)
                receive_logs(cluster)

    def inventory(self) -> Mapping[str, list[str]]:
        """Return the ids of what exists by type, as Pulumi's state has them, without what EKS made by itself.

        A type of which there is nothing is not in it.
        """
        found: dict[str, list[str]] = {type_: [] for type_ in _TYPES}
        for name, cluster in self._store.clusters.items():
            found[_CLUSTER].append(name)
            found[_GROUP].extend(f"{name}:{group}" for group in cluster.groups)
            found[_ADDON].extend(f"{name}:{addon}" for addon in cluster.addons)
            entries = {who: entry for who, entry in cluster.entries.items() if not entry.is_made_by_eks}
            found[_ENTRY].extend(f"{name}:{principal}" for principal in entries)
            found[_POLICY].extend(
                f"{name}#{who}#{policy}" for who, entry in entries.items() for policy in entry.policies
            )
            found[_IDENTITY].extend(key for key, each in cluster.associations.items() if not each.is_made_by_eks)
        return {type_: sorted(ids) for type_, ids in found.items() if ids}

    def _repeated(self, token: str, operation: str, params: dict[str, Any]) -> dict[str, Any]:
        first, first_params, answer = self._answered[token]
        if (first, first_params) != (operation, params):
            raise invalid_request(f"The {_TOKEN} {token} was used before with other parameters")
        return deepcopy(answer)


_TYPES: Final = (
    "aws:eks/cluster:Cluster",
    "aws:eks/nodeGroup:NodeGroup",
    "aws:eks/addon:Addon",
    "aws:eks/accessEntry:AccessEntry",
    "aws:eks/accessPolicyAssociation:AccessPolicyAssociation",
    "aws:eks/podIdentityAssociation:PodIdentityAssociation",
)
_CLUSTER, _GROUP, _ADDON, _ENTRY, _POLICY, _IDENTITY = _TYPES
