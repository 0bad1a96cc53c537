"""Changes to clusters: one at a time, and one kind of change in each."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from emulators.aws.server.eks import account, insights, updates, versions
from emulators.aws.server.eks.clusters import (
    check_encryption,
    check_offered,
    check_places,
    endpoint_access,
    log_setups,
    move_interfaces,
    write_logs,
)
from emulators.aws.server.eks.refusals import in_use, invalid_parameter, invalid_request
from emulators.aws.server.eks.store import Cluster, Request, Store, now

AUTHENTICATION_MODES: Final = ("CONFIG_MAP", "API_AND_CONFIG_MAP", "API")
"""In the one direction in which a cluster can go: https://docs.aws.amazon.com/eks/latest/userguide/setting-up-access-entries.html."""

_NOT_OFFERED: Final = (
    *("computeConfig", "kubeApiServerConfig", "kubeControllerManagerConfig", "kubeSchedulerConfig"),
    *("kubernetesNetworkConfig", "remoteNetworkConfig", "storageConfig"),
)

_ACCESS: Final = ("endpointPublicAccess", "endpointPrivateAccess", "publicAccessCidrs")
_NETWORK: Final = ("subnetIds", "securityGroupIds", "controlPlaneEgressMode")


class ClusterUpdates:
    """UpdateClusterConfig, UpdateClusterVersion and AssociateEncryptionConfig."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._config: Mapping[str, Callable[[Cluster, Any], tuple[str, dict[str, Any], dict[str, Any]]]] = {
            "accessConfig": _access,
            "controlPlaneScalingConfig": _scaling,
            "deletionProtection": _deletion_protection,
            "logging": _logging,
            "resourcesVpcConfig": _network,
            "upgradePolicy": _upgrade_policy,
            "zonalShiftConfig": _zonal_shift,
        }

    def operations(self) -> Mapping[str, Callable[[Request], dict[str, Any]]]:
        """Return what handles each operation."""
        return {
            "AssociateEncryptionConfig": self.associate_encryption,
            "UpdateClusterConfig": self.update_config,
            "UpdateClusterVersion": self.update_version,
        }

    def update_config(self, request: Request) -> dict[str, Any]:
        """Begin one kind of change (aws/aws-cdk#21439 has what EKS says to several)."""
        if (request.get("kubernetesNetworkConfig") or {}).get("serviceIpv4Cidr"):
            # https://docs.aws.amazon.com/eks/latest/APIReference/API_KubernetesNetworkConfigRequest.html: it cannot be
            # changed; the words are assumed.
            raise invalid_parameter("serviceIpv4Cidr can be given only when a cluster is made")
        check_offered(request, _NOT_OFFERED)
        cluster = self._store.cluster(request["name"])
        given = [member for member in self._config if request.get(member) is not None]
        if not given:
            raise invalid_parameter("The type for cluster update was not provided.")
        if len(given) > 1:
            raise invalid_parameter("Only one type of update can be allowed.")
        type_, params, changed = self._config[given[0]](cluster, request[given[0]])

        def apply() -> None:
            cluster.body.update(changed)
            write_logs(cluster)
            if type_ == "VpcConfigUpdate":
                move_interfaces(cluster)

        return self._start(request, cluster, type_, params, apply)

    def update_version(self, request: Request) -> dict[str, Any]:
        """Begin to move the control plane by one minor version."""
        cluster, version = self._store.cluster(request["name"]), request["version"]
        type_ = versions.check_upgrade(cluster, version)
        found = insights.errors(cluster, self._store.circumstances.insights)
        if type_ == "VersionRollback" and found and not request.get("force"):
            raise invalid_request(f"Rollback readiness insights have status ERROR: {', '.join(found)}")

        def apply() -> None:
            cluster.upgraded = (cluster.version, now()) if type_ == "VersionUpdate" else None
            cluster.body.update(version=version, platformVersion=versions.PLATFORM_VERSION)

        params = {"Version": version, "PlatformVersion": versions.PLATFORM_VERSION}
        return self._start(request, cluster, type_, params, apply)

    def associate_encryption(self, request: Request) -> dict[str, Any]:
        """Begin to encrypt Secrets with a key; nothing takes that back."""
        cluster, config = self._store.cluster(request["clusterName"]), request["encryptionConfig"]
        if cluster.body.get("encryptionConfig"):
            # hashicorp/terraform-provider-aws#19968 has the words; a second key is refused as the first one again is.
            raise invalid_parameter("Encryption is already enabled on the cluster")
        check_encryption(config)
        params = {"EncryptionConfig": config}
        changed = {"encryptionConfig": config}
        return self._start(request, cluster, "AssociateEncryptionConfig", params, lambda: cluster.body.update(changed))

    def _start(
        self, request: Request, cluster: Cluster, type_: str, params: dict[str, Any], apply: Callable[[], None]
    ) -> dict[str, Any]:
        if cluster.status == "UPDATING":
            # cloud-custodian/cloud-custodian#9250 has the words.
            raise in_use(f"Cannot {type_} because cluster {cluster.name} currently has update in progress")
        if cluster.status != "ACTIVE":
            raise invalid_request(f"Cannot {type_} because cluster {cluster.name} is {cluster.status}")
        change = updates.Change(cluster=cluster, resource=cluster, type=type_, params=params, apply=apply)
        return updates.start(self._store, request, change)


def _access(cluster: Cluster, given: Mapping[str, Any]) -> tuple[str, dict[str, Any], dict[str, Any]]:
    present, wanted = cluster.body["accessConfig"]["authenticationMode"], given.get("authenticationMode")
    if wanted is None or AUTHENTICATION_MODES.index(wanted) <= AUTHENTICATION_MODES.index(present):
        raise invalid_parameter(f"Unsupported authentication mode update from {present} to {wanted}")
    changed = {**cluster.body["accessConfig"], "authenticationMode": wanted}
    return "AccessConfigUpdate", {"AuthenticationMode": wanted}, {"accessConfig": changed}


def _deletion_protection(cluster: Cluster, wanted: bool) -> tuple[str, dict[str, Any], dict[str, Any]]:
    if cluster.body["deletionProtection"] is wanted:
        raise invalid_parameter(f"No changes needed: deletionProtection is {str(wanted).lower()}")
    return "DeletionProtectionUpdate", {"DeletionProtection": wanted}, {"deletionProtection": wanted}


def _logging(cluster: Cluster, given: Mapping[str, Any]) -> tuple[str, dict[str, Any], dict[str, Any]]:
    changed = log_setups(given, cluster.body["logging"])
    if changed == cluster.body["logging"]:
        # aws-quickstart/quickstart-amazon-eks-cluster-resource-provider#38 has the words.
        raise invalid_parameter("No changes needed for the logging config provided")
    return "LoggingUpdate", {"ClusterLogging": given}, {"logging": changed}


def _network(cluster: Cluster, given: Mapping[str, Any]) -> tuple[str, dict[str, Any], dict[str, Any]]:
    present = cluster.body["resourcesVpcConfig"]
    if any(name in given for name in _ACCESS) and any(name in given for name in _NETWORK):
        raise invalid_parameter("Only one type of update can be allowed.")
    if any(name in given for name in _ACCESS):
        access = endpoint_access(given, present)
        if all(access[name] == present[name] for name in _ACCESS):
            # aws-controllers-k8s/community#1855 has the words.
            raise invalid_parameter(
                "Cluster is already at the desired configuration with endpointPrivateAccess: "
                f"{str(access['endpointPrivateAccess']).lower()} , endpointPublicAccess: "
                f"{str(access['endpointPublicAccess']).lower()}, and Public Endpoint Restrictions: "
                f"[{', '.join(access['publicAccessCidrs'])}]"
            )
        params = {name[0].upper() + name[1:]: access[name] for name in _ACCESS}
        return "EndpointAccessUpdate", params, {"resourcesVpcConfig": {**present, **access}}
    changed = {**present, **given}
    places = check_places(changed["subnetIds"])
    if places.vpc != present["vpcId"]:
        raise invalid_parameter(f"Subnets must lie in the cluster's VPC {present['vpcId']}, given {places.vpc}")
    if set(places.zones.values()) != cluster.zones:
        # https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html; the words are those that users quote.
        raise invalid_parameter(
            f"Provided subnets belong to the AZs '{_named(places.zones.values())}'. But they should belong to the "
            f"exact set of AZs '{_named(cluster.zones)}' in which subnets were provided during cluster creation."
        )
    account.check_security_groups(changed["securityGroupIds"], places.vpc)
    if changed == present:
        raise invalid_parameter("No changes needed for the VPC config provided")
    params = {"Subnets": changed["subnetIds"], "SecurityGroups": changed["securityGroupIds"]}
    return "VpcConfigUpdate", params, {"resourcesVpcConfig": changed}


def _named(zones: Iterable[str]) -> str:
    return ",".join(sorted(set(zones)))


def _scaling(cluster: Cluster, given: Mapping[str, Any]) -> tuple[str, dict[str, Any], dict[str, Any]]:
    tiers = {"PreviousTier": cluster.body["controlPlaneScalingConfig"]["tier"], "UpdatedTier": given["tier"]}
    return "ControlPlaneScalingConfigUpdate", tiers, {"controlPlaneScalingConfig": given}


def _upgrade_policy(cluster: Cluster, given: Mapping[str, Any]) -> tuple[str, dict[str, Any], dict[str, Any]]:
    versions.check_policy(given, cluster.version)
    return "UpgradePolicyUpdate", {"UpgradePolicy": given}, {"upgradePolicy": given}


def _zonal_shift(_: Cluster, given: Mapping[str, Any]) -> tuple[str, dict[str, Any], dict[str, Any]]:
    return "ZonalShiftConfigUpdate", {"ZonalShiftConfig": given}, {"zonalShiftConfig": given}
