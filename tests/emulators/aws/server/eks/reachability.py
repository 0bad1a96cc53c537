"""From where an API server can be reached: https://docs.aws.amazon.com/eks/latest/userguide/cluster-endpoint.html."""

from collections.abc import Mapping
from typing import Any

from emulators.aws.server import store
from emulators.core.doors import PORT, Place


def barrier(cluster: str, network: Mapping[str, Any], place: Place) -> str:
    """Return what keeps a caller at a place from the API server of a cluster; empty if nothing does.

    The endpoint's name leads to private addresses in the cluster's own VPC, and everywhere else too once there is no
    public endpoint. Those are reached from the VPC and its peers, and guarded by the control plane's security groups.

    Parameters
    ----------
    network
        The cluster's ``resourcesVpcConfig``.
    """
    is_inside = place.network == network["vpcId"]
    if network["endpointPrivateAccess"] and (is_inside or not network["endpointPublicAccess"]):
        if not is_inside and not _are_peers(place.network, network["vpcId"]):
            return f"{cluster} is private and the caller is neither in its VPC nor in a peer of it"
        groups = [network["clusterSecurityGroupId"], *network["securityGroupIds"]]
        if not any(_admits(each, place) for each in groups):
            return f"no rule of the security groups of {cluster} lets the caller in: {', '.join(groups)}"
        return ""
    if not place.address:
        return "the caller has no way to the Internet"
    if not place.is_in(network["publicAccessCidrs"]):
        return f"{place.address} is not in the public ranges of {cluster}: {', '.join(network['publicAccessCidrs'])}"
    return ""


def _are_peers(one: str, other: str) -> bool:
    peerings = list(store.ec2().vpc_pcxs.values())
    return any({each.vpc.id, each.peer_vpc.id} == {one, other} and each.status["Code"] == "active" for each in peerings)


def _admits(group: str, caller: Place) -> bool:
    found = store.ec2().get_security_group_from_id(group)
    return any(_lets_in(rule, caller) for rule in list(found.ingress_rules)) if found else False


def _lets_in(rule: Any, caller: Place) -> bool:
    if str(rule.ip_protocol) not in ("-1", "tcp", "6"):
        return False
    if str(rule.ip_protocol) != "-1" and not int(rule.from_port) <= PORT <= int(rule.to_port):
        return False
    return rule.source_group.get("GroupId") in caller.groups or caller.is_in(
        filter(None, [rule.ip_range.get("CidrIp")])
    )
