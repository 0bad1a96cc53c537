"""Agent pools, inline in their cluster or on their own."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Final

from typing_extensions import override

from emulators.azure.server.aks import egress, pool_checks, versions
from emulators.azure.server.aks.busy import Rate, refuse_beside
from emulators.azure.server.aks.versions import Version
from emulators.azure.server.ids import POOL, ArmId
from emulators.azure.server.kinds.kind import Kind
from emulators.azure.server.refusals import bad_request, invalid
from emulators.azure.server.requests import Request
from emulators.azure.server.said import merged
from emulators.azure.server.store import CANCELED, Resource, Store
from emulators.core.fault_outcome import HealthIssue

SCALE_SET: Final = "Microsoft.Compute/virtualMachineScaleSets"
"""What a pool's nodes are; it lies in the resource group that AKS makes."""

PODS: Final = {"overlay": 250, "azure": 30, "kubenet": 110}
"""Default of maxPods by network."""


class Pools(Kind):
    """``Microsoft.ContainerService/managedClusters/agentPools``."""

    arm_type = POOL
    token = pool_checks.TOKEN
    version = "2025-09-01"
    form = ("azure.mgmt.containerservice", "AgentPool")
    names = r".+"  # AKS words it itself
    takes_time = True
    defaults: ClassVar = {
        "enableFIPS": False,
        "mode": "User",
        "osDiskType": "Managed",
        "osDiskSizeGB": 128,
        "osSKU": "Ubuntu",
        "osType": "Linux",
        "powerState": {"code": "Running"},
        "scaleDownMode": "Delete",
        "type": "VirtualMachineScaleSets",
    }

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self._rate = Rate(store)

    @override
    def id_of(self, asked: ArmId) -> ArmId:
        return lowered(asked)

    @override
    def check(self, request: Request, body: dict[str, Any], old: Resource | None) -> None:
        self._rate.take(request.id.above.above)
        cluster = self.store.get(request.id.above.above)
        refuse_beside(self.store, cluster)
        pool = self.checked(cluster, request.id.name, body["properties"], old)
        others = {each.id.key: each.properties for each in self.store.below(cluster.id, POOL)}
        pool_checks.check_all({**others, request.id.key: pool})

    def checked(
        self, cluster: Resource, name: str, sent: Mapping[str, Any], old: Resource | None, to: Version | None = None
    ) -> dict[str, Any]:
        """Return all properties of a pool as it was sent, or refuse it by itself and beside its cluster.

        Parameters
        ----------
        to
            Version that the control plane is about to have; default the one that it has.
        """
        control_plane = to or running(cluster)
        if old and sent.get("count") is None:
            sent = {**sent, "count": None}
        pool = self._merged(cluster, sent, old)
        pool_checks.check(name, pool, is_new=old is None)
        wanted = self._version(pool, old, control_plane)
        if old and wanted != running_pool(old):
            versions.check_pool_step(running_pool(old), wanted)
        versions.check_skew(wanted, control_plane, name)
        subnet = pool.get("vnetSubnetID")
        if subnet:
            found = self.store.find(subnet)
            if found is None:
                raise invalid("agentPoolProfile.vnetSubnetID", f"The subnet {subnet} was not found.")
            if found.properties.get("delegations"):
                raise invalid("agentPoolProfile.vnetSubnetID", f"The subnet {subnet} is delegated to another service.")
        egress.check_pool(cluster.properties, pool)
        self._check_placement(pool)
        pool["currentOrchestratorVersion"] = str(wanted)
        pool.setdefault("orchestratorVersion", str(wanted))
        pool["nodeImageVersion"] = f"AKSUbuntu-2204gen2containerd-{wanted.minor}.{wanted.patch}.0"
        return pool

    def _check_placement(self, pool: Mapping[str, Any]) -> None:
        if not (near := pool.get("proximityPlacementGroupID")):
            return
        found = self.store.find(near)
        if found is None:
            told = f"The proximity placement group {near} was not found."
            raise invalid("agentPoolProfile.proximityPlacementGroupID", told)
        inside = [pool, *(each.properties for each in self.store.users(found.id) if each.type == POOL)]
        if len({zone for each in inside for zone in each.get("availabilityZones") or ()}) > 1:
            raise bad_request(f"The proximity placement group {near} can map to one availability zone only.")

    def _version(self, pool: Mapping[str, Any], old: Resource | None, control_plane: Version) -> Version:
        stated = pool.get("orchestratorVersion")
        if not stated:
            return control_plane
        if old:
            return versions.meant(stated, running_pool(old))
        return versions.meant(stated, control_plane)

    def _merged(self, cluster: Resource, sent: Mapping[str, Any], old: Resource | None) -> dict[str, Any]:
        """Return what was sent, completed: what is left out stays, or is AKS's default. Refuse what does not change."""
        network = cluster.properties.get("networkProfile", {})
        plugin = "overlay" if network.get("networkPluginMode") == "overlay" else network.get("networkPlugin", "azure")
        base = old.properties if old else {**self.defaults, "maxPods": PODS.get(plugin, PODS["azure"]), "count": 1}
        given = {name: value for name, value in sent.items() if value is not None}
        if old and not given.get("enableAutoScaling", old.properties.get("enableAutoScaling")):
            base = {name: value for name, value in base.items() if name not in {"minCount", "maxCount"}}
        pool = merged(self.token, base, given)
        if old:
            pool_checks.check_change(old.properties, pool, given.get("nodeTaints"))
        if "count" in sent:
            pool["count"] = sent["count"]
        if pool_checks.is_spot(pool):
            pool.setdefault("scaleSetEvictionPolicy", "Delete")
            pool.setdefault("spotMaxPrice", -1)
            pool["nodeLabels"] = {**(pool.get("nodeLabels") or {}), pool_checks.SPOT_KEY: "spot"}
            taints = pool.get("nodeTaints") or []
            pool["nodeTaints"] = [*taints, *({pool_checks.SPOT_TAINT} - set(taints))]
        elif old is None:
            pool.setdefault("upgradeSettings", {"maxSurge": "10%", "maxUnavailable": "0"})
        return pool

    @override
    def completed(self, body: dict[str, Any], id_: ArmId, old: Resource | None) -> dict[str, Any]:
        cluster = self.store.get(id_.above.above)
        return {"properties": self.checked(cluster, id_.name, body["properties"], old)}

    @override
    def verb(self, body: Mapping[str, Any], old: Resource | None) -> str:
        if old is None:
            return "create"
        stated = body["properties"].get("orchestratorVersion")
        is_step = stated and versions.meant(stated, running_pool(old)) != running_pool(old)
        return "upgrade" if is_step else "update"

    @override
    def made(self, resource: Resource) -> None:
        self.equip(resource)
        resource.properties.pop("status", None)
        super().made(resource)

    @override
    def failed(self, resource: Resource, issues: Sequence[HealthIssue]) -> None:
        error = {"code": issues[0].code, "message": issues[0].message}
        resource.properties["status"] = {"provisioningError": error}
        super().failed(resource, issues)

    @override
    def actions(self) -> Mapping[str, Callable[[Request], Any]]:
        return {"abort": self._abort}

    def _abort(self, request: Request) -> dict[str, Any]:
        """End what goes on in a pool, wherever it stands: https://learn.microsoft.com/azure/aks/abort-aks-operations."""
        pool = self.store.get(request.id)
        if not pool.work:
            raise bad_request(f"Nothing goes on in agent pool {pool.id.name}.")
        pool.work.status, pool.work = CANCELED, None
        pool.state = CANCELED
        return {}

    def equip(self, pool: Resource) -> None:
        """Make the scale set of a pool, and let the autoscaler bring it between its bounds."""
        properties = pool.properties
        if properties.get("enableAutoScaling"):
            properties["count"] = min(max(properties["count"], properties["minCount"]), properties["maxCount"])
        set_ = scale_set(self.store.get(pool.id.above.above), pool.id)
        self.store.add(Resource(set_, SCALE_SET, {"properties": {}}, is_made_by_azure=True))

    @override
    def check_delete(self, resource: Resource, going: ArmId | None = None) -> None:
        if going:
            return
        cluster = self.store.get(resource.id.above.above)
        refuse_beside(self.store, cluster)
        left = {each.id.key: each.properties for each in self.store.below(cluster.id, POOL) if each is not resource}
        pool_checks.check_all(left)

    @override
    def gone(self, resource: Resource) -> Iterable[HealthIssue]:
        set_ = self.store.find(scale_set(self.store.get(resource.id.above.above), resource.id))
        if set_:
            self.store.remove(set_)
        return super().gone(resource)


def running(cluster: Resource) -> Version:
    """Return the version of a control plane."""
    return versions.version(cluster.properties["currentKubernetesVersion"], "kubernetesVersion")


def running_pool(pool: Resource) -> Version:
    """Return the version of a pool's nodes."""
    return versions.version(pool.properties["currentOrchestratorVersion"], "orchestratorVersion")


def scale_set(cluster: Resource, pool: ArmId) -> ArmId:
    """Return the id of a pool's scale set."""
    group = f"/subscriptions/{cluster.id.subscription}/resourceGroups/{cluster.properties['nodeResourceGroup']}"
    return ArmId(f"{group}/providers/{SCALE_SET}/aks-{pool.name}-vmss")


def lowered(asked: ArmId) -> ArmId:
    """Return an id as AKS writes it: with ``resourcegroups`` in lower case."""
    return ArmId(asked.text.replace("/resourceGroups/", "/resourcegroups/", 1))
