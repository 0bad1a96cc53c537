"""From where an API server can be reached: https://docs.aws.amazon.com/eks/latest/userguide/cluster-endpoint.html."""

from collections.abc import Iterable, Mapping
from ipaddress import IPv4Network
from typing import Any, Final
from urllib.parse import urlsplit

from emulators.aws.server import store
from emulators.aws.server.circumstances import Caller
from emulators.aws.server.eks.store import Cluster, Store
from emulators.core.doors import Door
from emulators.core.service_context import ControlPlane

PORT: Final = 443


def opened(clusters: Store, cluster: Cluster, control_plane: ControlPlane) -> tuple[Door, str]:
    """Give a cluster an address of its own, which no later one has, and return it with what listens there."""
    server = urlsplit(control_plane.endpoint)
    target = (server.hostname or "", server.port or PORT)

    def admits() -> bool:
        caller = clusters.circumstances.caller
        return caller is None or is_reachable(cluster.body["resourcesVpcConfig"], caller)

    door = Door(target, admits)
    return door, f"https://{target[0]}:{door.port}"


def is_reachable(network: Mapping[str, Any], caller: Caller) -> bool:
    """Return whether a caller reaches the endpoint of a cluster with these settings.

    The endpoint's name leads to private addresses in the cluster's own VPC, and everywhere else too once there is no
    public endpoint. Those are reached from the VPC and its peers, and guarded by the control plane's security groups.
    """
    is_inside = caller.vpc == network["vpcId"]
    if network["endpointPrivateAccess"] and (is_inside or not network["endpointPublicAccess"]):
        groups = [network["clusterSecurityGroupId"], *network["securityGroupIds"]]
        return (is_inside or _are_peers(caller.vpc, network["vpcId"])) and any(_admits(each, caller) for each in groups)
    return network["endpointPublicAccess"] and _holds(network["publicAccessCidrs"], caller)


def _are_peers(one: str, other: str) -> bool:
    peerings = list(store.ec2().vpc_pcxs.values())
    return any({each.vpc.id, each.peer_vpc.id} == {one, other} and each.status["Code"] == "active" for each in peerings)


def _admits(group: str, caller: Caller) -> bool:
    found = store.ec2().get_security_group_from_id(group)
    return any(_lets_in(rule, caller) for rule in list(found.ingress_rules)) if found else False


def _lets_in(rule: Any, caller: Caller) -> bool:
    if str(rule.ip_protocol) not in ("-1", "tcp", "6"):
        return False
    if str(rule.ip_protocol) != "-1" and not int(rule.from_port) <= PORT <= int(rule.to_port):
        return False
    return rule.source_group.get("GroupId") in caller.groups or _holds(
        filter(None, [rule.ip_range.get("CidrIp")]), caller
    )


def _holds(ranges: Iterable[str], caller: Caller) -> bool:
    return any(IPv4Network(caller.cidr).subnet_of(IPv4Network(each)) for each in ranges)
