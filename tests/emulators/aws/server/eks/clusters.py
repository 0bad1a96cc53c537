"""Clusters: made, read, listed, deleted."""

import hashlib
from collections.abc import Callable, Mapping
from copy import deepcopy
from ipaddress import IPv4Network
from typing import Any, Final

from components.contract.eks.config import LOG_TYPES
from components.contract.eks.network import PUBLIC_CIDRS_MAX, SERVICE_PREFIXES
from emulators.aws.server import REGION
from emulators.aws.server.circumstances import CLOSED_ZONES
from emulators.aws.server.eks import account, versions
from emulators.aws.server.eks.access import bootstrap
from emulators.aws.server.eks.pages import page
from emulators.aws.server.eks.refusals import in_use, invalid_parameter, invalid_request
from emulators.aws.server.eks.store import Cluster, Request, Store, arn, issue_members, new_id, now
from emulators.core.fault_outcome import HealthIssue
from emulators.core.service_context import ControlPlane

NOWHERE: Final = ControlPlane("https://127.0.0.1:1", "bm9uZQ==")
"""Where clusters lead to if the server was given no API server: an address that does not answer."""

SELF_MANAGED: Final = frozenset({"coredns", "kube-proxy", "vpc-cni"})
"""What EKS installs without managing it, unless ``bootstrapSelfManagedAddons`` is false."""

EVERYONE: Final = ["0.0.0.0/0"]
ZONES_MIN: Final = 2

_SERVICE_CIDRS: Final = ("10.100.0.0/16", "172.20.0.0/16")
"""EKS takes the first one that is none of the VPC's."""

_NOT_OFFERED: Final = (
    *("computeConfig", "kubeApiServerConfig", "kubeControllerManagerConfig", "kubeSchedulerConfig"),
    *("outpostConfig", "remoteNetworkConfig", "storageConfig"),
)
"""EKS has these and the emulator does not; nothing that is sent may be lost without a word."""


def check_offered(request: Request, names: tuple[str, ...]) -> None:
    """Say that a member is beyond the emulator, instead of dropping it.

    Raises
    ------
    NotImplementedError
        The request has one of these members.
    """
    if strange := [name for name in names if request.get(name) is not None]:
        raise NotImplementedError(f"{request.operation} with {', '.join(strange)}")


def endpoint_access(given: Mapping[str, Any], present: Mapping[str, Any]) -> dict[str, Any]:
    """Return who reaches the API server, with EKS's defaults for what is neither given nor there, or refuse."""
    access = {
        "endpointPublicAccess": given.get("endpointPublicAccess", present.get("endpointPublicAccess", True)),
        "endpointPrivateAccess": given.get("endpointPrivateAccess", present.get("endpointPrivateAccess", False)),
    }
    if not any(access.values()):
        raise invalid_parameter("Private and public endpoint access cannot be false")
    cidrs = given.get("publicAccessCidrs") or present.get("publicAccessCidrs") or EVERYONE
    if len(cidrs) > PUBLIC_CIDRS_MAX:
        raise invalid_parameter(f"publicAccessCidrs has {len(cidrs)} ranges, at most {PUBLIC_CIDRS_MAX} are allowed")
    return {**access, "publicAccessCidrs": list(cidrs) if access["endpointPublicAccess"] else []}


def log_setups(given: Mapping[str, Any], present: Mapping[str, Any]) -> dict[str, Any]:
    """Return the logs that are on and those that are off, after a change to the ones that are given."""
    is_on = dict.fromkeys(LOG_TYPES, False)
    for setups in (present, given):
        for setup in setups.get("clusterLogging", ()):
            is_on.update(dict.fromkeys(setup.get("types", ()), setup.get("enabled", False)))
    on, off = ([kind for kind in LOG_TYPES if is_on[kind] is wanted] for wanted in (True, False))
    both = [{"types": types, "enabled": enabled} for types, enabled in ((on, True), (off, False)) if types]
    return {"clusterLogging": both}


def write_logs(cluster: Cluster) -> None:
    """Let the control plane write the logs that are on."""
    if has_logs(cluster):
        account.receive_logs(cluster.name)


def has_logs(cluster: Cluster) -> bool:
    """Return whether a control plane writes logs."""
    return any(setup["enabled"] for setup in cluster.body["logging"]["clusterLogging"])


def check_places(subnet_ids: list[str]) -> account.Subnets:
    """Return the subnets of a control plane, or refuse fewer than two zones (awsdocs/amazon-eks-user-guide#795)."""
    places = account.subnets(subnet_ids)
    if len(set(places.zones.values())) < ZONES_MIN:
        raise invalid_parameter("Subnets specified must be in at least two different AZs")
    return places


def move_interfaces(cluster: Cluster) -> None:
    """Give the control plane its network interfaces in the cluster's present subnets and security groups.

    That the old ones go is assumed.
    """
    network = cluster.body["resourcesVpcConfig"]
    account.remove_interfaces(cluster.interfaces)
    groups = [network["clusterSecurityGroupId"], *network["securityGroupIds"]]
    cluster.interfaces = account.add_interfaces(cluster.name, account.subnets(network["subnetIds"]), groups)


def check_encryption(config: list[dict[str, Any]]) -> None:
    """Refuse an encryption of anything but Secrets, or with a key that cannot do it."""
    for each in config:
        if each.get("resources") != ["secrets"]:
            raise invalid_parameter("encryptionConfig: resources must be [secrets]")
        account.check_key(each.get("provider", {}).get("keyArn", ""))


class Clusters:
    """CreateCluster, DescribeCluster, ListClusters and DeleteCluster."""

    def __init__(self, store: Store, control_plane: ControlPlane | None) -> None:
        self._store, self._control_plane = store, control_plane or NOWHERE

    def operations(self) -> Mapping[str, Callable[[Request], dict[str, Any]]]:
        """Return what handles each operation."""
        return {
            "CreateCluster": self.create,
            "DescribeCluster": self.describe,
            "ListClusters": self.list,
            "DeleteCluster": self.delete,
        }

    def create(self, request: Request) -> dict[str, Any]:
        """Begin to make a cluster."""
        check_offered(request, _NOT_OFFERED)
        name = request["name"]
        if name in self._store.clusters:
            raise in_use(f"Cluster already exists with name: {name}")
        version = request.get("version", versions.default_version())
        versions.check_offered(version)
        policy = request.get("upgradePolicy") or {"supportType": "EXTENDED"}
        versions.check_policy(policy, version)
        account.check_cluster_role(request["roleArn"])
        check_encryption(request.get("encryptionConfig", []))
        network = request["resourcesVpcConfig"]
        places = check_places(network.get("subnetIds", []))
        account.check_zones(name, places, CLOSED_ZONES | self._store.circumstances.closed_zones)
        account.check_security_groups(network.get("securityGroupIds", []), places.vpc)
        access = endpoint_access(network, {})
        addresses = _addresses(request.get("kubernetesNetworkConfig") or {}, places.vpc)
        unique = hashlib.sha256(new_id().encode()).hexdigest()[:32].upper()
        security_group = account.add_security_group(name, places.vpc, unique[:12].lower())
        body = {
            "name": name,
            "arn": arn("cluster", name),
            "createdAt": now(),
            "version": version,
            "roleArn": request["roleArn"],
            "resourcesVpcConfig": {
                "subnetIds": list(places.zones),
                "securityGroupIds": network.get("securityGroupIds", []),
                "clusterSecurityGroupId": security_group,
                "vpcId": places.vpc,
                **access,
                "controlPlaneEgressMode": network.get("controlPlaneEgressMode", "AWS_MANAGED"),
            },
            "kubernetesNetworkConfig": addresses,
            "logging": log_setups(request.get("logging") or {}, {}),
            "status": "CREATING",
            "certificateAuthority": {},
            "platformVersion": versions.PLATFORM_VERSION,
            "tags": request.get("tags", {}),
            "health": {"issues": []},
            "accessConfig": _access_config(request.get("accessConfig") or {}),
            "upgradePolicy": policy,
            "deletionProtection": request.get("deletionProtection", False),
            "zonalShiftConfig": request.get("zonalShiftConfig") or {"enabled": False},
            "controlPlaneScalingConfig": request.get("controlPlaneScalingConfig") or {"tier": "standard"},
            **request.kept("encryptionConfig"),
        }
        cluster = Cluster(
            body,
            zones=frozenset(places.zones.values()),
            self_managed=SELF_MANAGED if request.get("bootstrapSelfManagedAddons", True) else frozenset(),
        )
        self._store.clusters[name] = cluster
        move_interfaces(cluster)
        bootstrap(cluster)
        answer = deepcopy(body)

        def done() -> None:
            body["status"] = "ACTIVE"
            write_logs(cluster)
            control_plane = self._store.circumstances.control_plane or self._control_plane
            if control_plane is not NOWHERE:
                control_plane = self._store.doors.open(name, control_plane)
            body["endpoint"] = control_plane.endpoint
            body["certificateAuthority"] = {"data": control_plane.certificate_authority}
            body["identity"] = {"oidc": {"issuer": f"https://oidc.eks.{REGION}.amazonaws.com/id/{unique}"}}

        def failed(issues: tuple[HealthIssue, ...]) -> None:
            body["status"], body["health"] = "FAILED", {"issues": issue_members(issues)}

        self._store.begin(request, cluster, done, failed)
        return {"cluster": answer}

    def describe(self, request: Request) -> dict[str, Any]:
        """Return a cluster."""
        body = {**(cluster := self._store.cluster(request["name"])).body, "health": {"issues": _issues(cluster)}}
        # https://github.com/aws/containers-roadmap/issues/185#issuecomment-1863025784: an answer has only the mode.
        return {"cluster": {**body, "accessConfig": {"authenticationMode": body["accessConfig"]["authenticationMode"]}}}

    def list(self, request: Request) -> dict[str, Any]:
        """Return the names of all clusters."""
        return page(request, "clusters", sorted(self._store.clusters))

    def delete(self, request: Request) -> dict[str, Any]:
        """Begin to remove a cluster with its add-ons, access entries and associations.

        One that is being made or could not be made can be removed, and deletion protection does not hold there:
        https://docs.aws.amazon.com/eks/latest/userguide/deletion-protection.html.
        """
        cluster = self._store.cluster(request["name"])
        name = cluster.name
        if cluster.groups:
            raise in_use("Cluster has nodegroups attached")
        if cluster.status == "UPDATING":
            raise in_use(f"Cannot delete because cluster {name} currently has an update in progress")
        if cluster.status == "ACTIVE" and cluster.body["deletionProtection"]:
            raise invalid_request(f"Cluster {name} cannot be deleted because deletion protection is enabled")
        before, cluster.body["status"] = cluster.status, "DELETING"
        answer = deepcopy(cluster.body)

        def done() -> None:
            account.remove_interfaces(cluster.interfaces)
            account.remove_security_group(cluster.body["resourcesVpcConfig"]["clusterSecurityGroupId"])
            del self._store.clusters[name]
            self._store.doors.close(name)
            if has_logs(cluster):
                self._store.unwritten.add(name)

        def failed(issues: tuple[HealthIssue, ...]) -> None:
            cluster.body["status"], cluster.body["health"] = before, {"issues": issue_members(issues)}

        if before != "DELETING":
            self._store.begin(request, cluster, done, failed)
        return {"cluster": answer}


def _issues(cluster: Cluster) -> list[dict[str, Any]]:
    keys = [config["provider"]["keyArn"] for config in cluster.body.get("encryptionConfig", [])]
    found = [issue for key in keys for issue in issue_members(account.key_issues(key), key)]
    return [*cluster.body["health"]["issues"], *found]


def _addresses(given: Mapping[str, Any], vpc: str) -> dict[str, Any]:
    if given.get("ipFamily", "ipv4") != "ipv4":
        raise NotImplementedError("CreateCluster with IPv6")
    balancing = {"ipFamily": "ipv4", "elasticLoadBalancing": {"enabled": False}}
    if cidr := given.get("serviceIpv4Cidr"):
        widest, narrowest = SERVICE_PREFIXES
        if not widest <= IPv4Network(cidr).prefixlen <= narrowest:
            raise invalid_parameter(f"serviceIpv4Cidr {cidr} must be between /{widest} and /{narrowest}")
        if not account.is_outside(cidr, vpc):
            raise invalid_parameter(f"serviceIpv4Cidr {cidr} overlaps the addresses of {vpc}")
        return {"serviceIpv4Cidr": cidr, **balancing}
    return {"serviceIpv4Cidr": next(each for each in _SERVICE_CIDRS if account.is_outside(each, vpc)), **balancing}


def _access_config(given: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "authenticationMode": given.get("authenticationMode", "CONFIG_MAP"),
        "bootstrapClusterCreatorAdminPermissions": given.get("bootstrapClusterCreatorAdminPermissions", True),
    }
