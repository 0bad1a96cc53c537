"""Managed clusters."""

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from typing import Any, ClassVar

from typing_extensions import override

from emulators.azure.server import TENANT
from emulators.azure.server.aks import (
    access,
    cluster_changes,
    cluster_checks,
    egress,
    keys,
    node_settings,
    pool_checks,
    versions,
)
from emulators.azure.server.aks.busy import RUNNING, STOPPED, is_stopped, refuse_beside
from emulators.azure.server.aks.kubeconfig import kubeconfig
from emulators.azure.server.aks.pools import Pools, lowered, running, running_pool
from emulators.azure.server.aks.power import switch
from emulators.azure.server.ids import CLUSTER, GROUP, POOL, ArmId
from emulators.azure.server.kinds import private_dns
from emulators.azure.server.kinds.identity import IDENTITY
from emulators.azure.server.kinds.kind import Kind, at
from emulators.azure.server.refusals import bad_request, invalid
from emulators.azure.server.requests import Request
from emulators.azure.server.said import merged
from emulators.azure.server.store import FAILED, SUCCEEDED, Resource, Store
from emulators.core.doors import Doors, Place
from emulators.core.fault_outcome import HealthIssue
from emulators.core.refusal import Refusal
from emulators.core.service_context import ControlPlane


class Clusters(Kind):
    """``Microsoft.ContainerService/managedClusters``."""

    arm_type = CLUSTER
    token = cluster_changes.TOKEN
    version = "2025-09-01"
    form = ("azure.mgmt.containerservice", "ManagedCluster")
    names = r"[A-Za-z0-9]([-\w]{0,61}[A-Za-z0-9])?"
    is_tracked = True
    takes_time = True
    defaults: ClassVar = {
        "bootstrapProfile": {"artifactSource": egress.DIRECT},
        "disableLocalAccounts": False,
        "enableRBAC": True,
        "maxAgentPools": 100,
        "powerState": {"code": "Running"},
        "supportPlan": "KubernetesOfficial",
    }
    network: ClassVar[Mapping[str, Any]] = {
        "networkPlugin": "azure",
        "serviceCidr": "10.0.0.0/16",
        "dnsServiceIP": "10.0.0.10",
        "loadBalancerSku": "standard",
        "outboundType": "loadBalancer",
        "ipFamilies": ["IPv4"],
    }
    """Defaults of the network profile."""

    def __init__(self, store: Store, pools: Pools, control_plane: ControlPlane | None) -> None:
        super().__init__(store)
        self._pools, self._control_plane = pools, control_plane
        self.doors = Doors(self._barrier)
        """The addresses of clusters."""

    @override
    def id_of(self, asked: ArmId) -> ArmId:
        return lowered(asked)

    @override
    def check(self, request: Request, body: dict[str, Any], old: Resource | None) -> None:
        if old:
            refuse_beside(self.store, old)
        sent = body["properties"].get("agentPoolProfiles") or []
        names = [pool["name"] for pool in sent if "name" in pool]
        if len(set(names)) != len(sent):
            raise invalid("agentPoolProfiles.name", "Every pool needs a name of its own.")
        kept = self.completed(body, request.id, old)
        if old:
            cluster_changes.check(old.body, kept)
        egress.check(body["properties"], kept["properties"], old.properties if old else None)
        self._check_step(kept, sent, old)
        if old is None:
            self._check_node_group(kept, request.id)
        self._check_pools(kept, sent, old)
        cluster_checks.check(self.store, self._judged(body, kept, old))

    def check_rights(self, request: Request, unseen: set[str]) -> None:
        """Refuse a cluster whose rights are too new to hold.

        Parameters
        ----------
        unseen
            Ids of role assignments in lower case.
        """
        body, old = self.read(request), self.store.find(request.id)
        cluster_checks.check(self.store, self._judged(body, self.completed(body, request.id, old), old), unseen)

    def _judged(self, body: Mapping[str, Any], kept: Mapping[str, Any], old: Resource | None) -> dict[str, Any]:
        """Return what is judged of a cluster: with the pools that are there if none were sent.

        The identity of its nodes is judged if it was sent; one that AKS made for itself needs no permission.
        """
        there = [pool.properties for pool in self.store.below(old.id, POOL)] if old else []
        pools = kept["properties"].get("agentPoolProfiles") or there
        sent = {"identityProfile": body["properties"].get("identityProfile"), "agentPoolProfiles": pools}
        return {**kept, "properties": {**kept["properties"], **sent}}

    def _check_step(self, kept: Mapping[str, Any], sent: list[dict[str, Any]], old: Resource | None) -> None:
        wanted = versions.version(kept["properties"]["currentKubernetesVersion"], "kubernetesVersion")
        stated = [pool.get("orchestratorVersion") for pool in sent]
        if old is None:
            return
        versions.check_cluster_step(running(old), wanted, old.id.name)
        there = {pool.id.name: pool for pool in self.store.below(old.id, POOL)}
        for pool in there.values():
            versions.check_skew(running_pool(pool), wanted, pool.id.name)
        changed = [
            each["name"]
            for each in sent
            if each.get("orchestratorVersion")
            and each["name"] in there
            and versions.meant(each["orchestratorVersion"], running_pool(there[each["name"]]))
            != running_pool(there[each["name"]])
        ]
        to_cluster = all(not text or versions.meant(text, wanted) == wanted for text in stated)
        if any(stated) and (not all(stated) or (changed and not to_cluster)):
            how = "must be all specified or all unspecified. If all specified, they must be stay unchanged or the same"
            told = f"Using managed cluster api, all Agent pools' OrchestratorVersion {how} with control plane."
            raise Refusal("NotAllAgentPoolOrchestratorVersionSpecifiedAndUnchanged", 400, told)
        has_spot = any(pool_checks.is_spot(pool.properties) for pool in there.values())
        if changed and wanted != running(old) and has_spot:
            told = "Control plane and node pools cannot be upgraded together in a cluster with spot node pools."
            raise Refusal("OperationNotAllowed", 400, told)

    def _check_node_group(self, kept: Mapping[str, Any], id_: ArmId) -> None:
        name = kept["properties"]["nodeResourceGroup"]
        if self.store.find(f"/subscriptions/{id_.subscription}/resourceGroups/{name}"):
            raise bad_request(f"The node resource group {name} exists; AKS must make it itself.")

    def _check_pools(self, kept: Mapping[str, Any], sent: list[dict[str, Any]], old: Resource | None) -> None:
        there = {pool.id.name: pool for pool in self.store.below(old.id, POOL)} if old else {}
        new = [pool["name"] for pool in sent if pool["name"] not in there]
        if old and new:
            how = "Adding agent pools to an existing cluster is not allowed through managed cluster operations."
            told = f"A new agent pool was introduced. {how} For agent pool specific change, please use per agent pool"
            raise bad_request(f"{told} operations: https://aka.ms/agent-pool-rest-api")
        if old is None and not any(pool.get("mode") == "System" for pool in sent):
            raise invalid("agentPoolProfiles", "Must define at least one system pool.")
        cluster = Resource(old.id if old else ArmId(""), CLUSTER, dict(kept))
        to = versions.version(kept["properties"]["currentKubernetesVersion"], "kubernetesVersion")
        merged = {name: pool.properties for name, pool in there.items()}
        for pool in sent:
            merged[pool["name"]] = self._pools.checked(cluster, pool["name"], _bare(pool), there.get(pool["name"]), to)
        if merged:
            pool_checks.check_all(merged)

    @override
    def completed(self, body: dict[str, Any], id_: ArmId, old: Resource | None) -> dict[str, Any]:
        sent = deepcopy(body)
        properties = {name: value for name, value in sent["properties"].items() if value is not None}
        base = deepcopy(old.properties) if old else {**self.defaults, **self._new(id_, sent)}
        base.pop("provisioningState", None)
        base.pop("agentPoolProfiles", None)
        stated = properties.get("kubernetesVersion")
        if old:
            current = versions.meant(stated, running(old)) if stated else running(old)
        else:
            current = versions.version(stated or versions.default(), "kubernetesVersion")
        base["networkProfile"] = {**self.network, **base.get("networkProfile", {})}
        kept = {
            **merged(self.token, base, properties),
            "kubernetesVersion": stated or base.get("kubernetesVersion") or versions.default(),
            "currentKubernetesVersion": str(current),
        }
        if at(kept, "oidcIssuerProfile.enabled"):
            kept["oidcIssuerProfile"]["issuerURL"] = f"https://oidc.prod-aks.azure.com/{TENANT}/{kept['resourceUID']}/"
        if kept.get("aadProfile"):
            kept["aadProfile"].setdefault("tenantID", TENANT)
        kept = egress.with_registry(id_, node_settings.with_own_exceptions(kept))
        result = {**sent, "properties": kept, "sku": sent.get("sku") or {"name": "Base", "tier": "Free"}}
        self._identify(result)
        return result

    def _new(self, id_: ArmId, body: Mapping[str, Any]) -> dict[str, Any]:
        group = id_.group.name if id_.group else ""
        prefix = body["properties"].get("dnsPrefix") or body["properties"].get("fqdnSubdomain") or ""
        place = body.get("location", "")
        is_private = at(body, "properties.apiServerAccessProfile.enablePrivateCluster")
        domain = f"privatelink.{place}.azmk8s.io" if is_private else f"hcp.{place}.azmk8s.io"
        uid = uuid.uuid4().hex[:24]
        return {
            "nodeResourceGroup": f"MC_{group}_{id_.name}_{place}"[:80],
            "privateFQDN" if is_private else "fqdn": f"{prefix}-{uid[:8]}.{domain}",
            "resourceUID": uid,
        }

    def _identify(self, body: dict[str, Any]) -> None:
        """Tell of each identity which principal it is."""
        for id_ in cluster_checks.own_identities(body):
            found = self.store.find(id_)
            told = {name: found.properties[name] for name in ("principalId", "clientId")} if found else {}
            body["identity"]["userAssignedIdentities"][id_.text] = told
        kubelet = at(body, f"properties.identityProfile.{cluster_checks.KUBELET}.resourceId")
        found = self.store.find(kubelet) if kubelet else None
        if found:
            told = {"clientId": found.properties["clientId"], "objectId": found.properties["principalId"]}
            body["properties"]["identityProfile"][cluster_checks.KUBELET].update(told)

    @override
    def verb(self, body: Mapping[str, Any], old: Resource | None) -> str:
        if old is None:
            return "create"
        stated = body["properties"].get("kubernetesVersion")
        return "upgrade" if stated and versions.meant(stated, running(old)) != running(old) else "update"

    def begun(self, cluster: Resource, sent: list[dict[str, Any]]) -> None:
        """Make or change the pools that come with their cluster; they are done when it is, and in a state with it."""
        for pool in sent:
            id_ = ArmId(f"{cluster.id.text}/agentPools/{pool['name']}")
            old = self.store.find(id_)
            properties = self._pools.checked(cluster, pool["name"], _bare(pool), old)
            if old:
                old.body["properties"] = properties
            else:
                self.store.add(Resource(id_, POOL, {"properties": properties}, is_made_by_azure=True))
        for part in self.store.below(cluster.id, POOL):
            part.state = cluster.state

    @override
    def made(self, resource: Resource) -> None:
        group = self._node_group(resource)
        if self.store.find(group) is None:
            made = {"location": resource.body["location"], "managedBy": resource.id.text}
            body = {**made, "properties": {"provisioningState": SUCCEEDED}}
            self.store.add(Resource(group, GROUP, body, is_made_by_azure=True))
            self._make_zone(resource, group)
        self._make_kubelet_identity(resource, group)
        self._make_registry(resource)
        for pool in self.store.below(resource.id, POOL):
            self._pools.made(pool)
        keys.remember(resource)
        super().made(resource)

    def ailments(self, id_: ArmId) -> list[str]:
        """Return why a cluster's API server does not work, although AKS says that it runs; empty if it works."""
        cluster = self.store.get(id_)
        lost = keys.unusable(self.store, cluster, cluster_checks.principals_of(self.store, cluster.body))
        return [f"Secrets cannot be decrypted: the identity of {id_.name} may not use {key}." for key in lost]

    def _barrier(self, id_: str, place: Place) -> str:
        cluster = self.store.find(ArmId(id_))
        if cluster is None or cluster.type != CLUSTER:
            raise LookupError(f"there is no {CLUSTER} {id_}")
        if is_stopped(cluster):
            return "it is stopped"
        nodes = (pool.properties.get("vnetSubnetID") for pool in self.store.below(cluster.id, POOL))
        return access.barrier(self.store, cluster, filter(None, nodes), place) or "; ".join(self.ailments(cluster.id))

    @override
    def failed(self, resource: Resource, issues: Sequence[HealthIssue]) -> None:
        for pool in self.store.below(resource.id, POOL):
            pool.state = FAILED
        super().failed(resource, issues)

    def _make_zone(self, cluster: Resource, group: ArmId) -> None:
        api = cluster.properties.get("apiServerAccessProfile") or {}
        if not api.get("enablePrivateCluster") or api.get("privateDNSZone") == "none":
            return
        (subnet, *_) = (pool.properties["vnetSubnetID"] for pool in self.store.below(cluster.id, POOL))
        network = ArmId(subnet).above.above.text
        if given := cluster_checks.own_zone(cluster.properties):
            private_dns.link(self.store, ArmId(given), network, cluster.id.name)
        else:
            name = f"privatelink.{cluster.body['location']}.azmk8s.io"
            private_dns.make_zone(self.store, group, name, network)

    def _make_kubelet_identity(self, cluster: Resource, group: ArmId) -> None:
        profile = cluster.properties.setdefault("identityProfile", {})
        if cluster_checks.KUBELET in profile:
            return
        id_ = ArmId(f"{group.text}/providers/{IDENTITY}/{cluster.id.name}-agentpool")
        own = {"tenantId": TENANT, "principalId": str(uuid.uuid4()), "clientId": str(uuid.uuid4())}
        place = {"location": cluster.body["location"]}
        self.store.add(Resource(id_, IDENTITY, {**place, "properties": own}, is_made_by_azure=True))
        who = {"resourceId": id_.text, "clientId": own["clientId"], "objectId": own["principalId"]}
        profile[cluster_checks.KUBELET] = who

    def _make_registry(self, cluster: Resource) -> None:
        """Make the registry that nodes start from. One that is not used any more stays until the cluster goes."""
        registry = egress.managed_registry(cluster)
        if registry and self.store.find(registry) is None:
            body = {"location": cluster.body["location"], "sku": {"name": "Premium"}, "properties": {}}
            self.store.add(Resource(registry, egress.REGISTRY, body, is_made_by_azure=True))

    def _node_group(self, cluster: Resource) -> ArmId:
        name = cluster.properties["nodeResourceGroup"]
        return ArmId(f"/subscriptions/{cluster.id.subscription}/resourceGroups/{name}")

    @override
    def gone(self, resource: Resource) -> Iterable[HealthIssue]:
        self.doors.close(resource.id.key)
        group = self.store.find(self._node_group(resource))
        if group:
            for each in self.store.below(group.id):
                self.store.remove(each)
            self.store.remove(group)
        return super().gone(resource)

    @override
    def shown(self, resource: Resource) -> dict[str, Any]:
        shown = super().shown(resource)
        shown["properties"]["agentPoolProfiles"] = [
            {"name": pool.id.name, **deepcopy(pool.properties)} for pool in self.store.below(resource.id, POOL)
        ]
        return shown

    @override
    def actions(self) -> Mapping[str, Callable[[Request], Any]]:
        return {
            "listclusteradmincredential": self._administrator,
            "listclusterusercredential": self._user,
            "start": lambda request: switch(self.store, self.doors, request, RUNNING),
            "stop": lambda request: switch(self.store, self.doors, request, STOPPED),
        }

    def _user(self, request: Request) -> dict[str, Any]:
        cluster = self.store.get(request.id)
        if request.query.get("format") != "exec":
            raise bad_request("The Azure emulator writes kubeconfigs of format=exec alone.")
        if not cluster.properties.get("aadProfile"):
            raise bad_request("The Azure emulator writes kubeconfigs of clusters with an aadProfile alone.")
        if cluster.state == "Creating":
            raise bad_request(f"Cluster {cluster.id.name} has no API server yet: it is {cluster.state}.")
        server = self._control_plane and self.doors.open(cluster.id.key, self._control_plane)
        return kubeconfig(cluster, server)

    def _administrator(self, request: Request) -> dict[str, Any]:
        if self.store.get(request.id).properties.get("disableLocalAccounts"):
            told = "this cluster is set to disable local accounts"
            raise bad_request(f"Getting static credential is not allowed because {told}.")
        raise Refusal("NotImplemented", 501, "The Azure emulator has no administrator of a cluster.")


def _bare(pool: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in pool.items() if name != "name"}
