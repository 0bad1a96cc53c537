"""What makes a cluster invalid, whatever its pools are.

Sources: https://learn.microsoft.com/azure/aks/use-managed-identity, .../configure-azure-cni,
.../use-kms-etcd-encryption and .../api-server-authorized-ip-ranges.
"""

from collections.abc import Container, Iterator, Mapping
from ipaddress import ip_address, ip_network
from typing import Any, Final

from emulators.azure.server.aks import egress, keys, node_settings
from emulators.azure.server.ids import ArmId
from emulators.azure.server.kinds.identity import (
    IDENTITY_OPERATOR,
    NETWORK_CONTRIBUTOR,
    PRIVATE_DNS,
    may,
)
from emulators.azure.server.kinds.kind import at
from emulators.azure.server.kinds.network import overlap, prefixes_of
from emulators.azure.server.kinds.network_kind import SUBNET
from emulators.azure.server.refusals import invalid, not_referable
from emulators.azure.server.store import Resource, Store
from emulators.core.refusal import Refusal

KUBELET: Final = "kubeletidentity"

CIDRS: Final = ("podCidr", "serviceCidr")


def check(store: Store, body: Mapping[str, Any], unseen: Container[str] = ()) -> None:
    """Refuse a cluster that does not go together, or with what exists.

    Parameters
    ----------
    body
        With all defaults.
    unseen
        Ids of role assignments that do not hold yet.
    """
    properties = body["properties"]
    if not (properties.get("dnsPrefix") or properties.get("fqdnSubdomain")):
        raise invalid("dnsPrefix", "The cluster needs dnsPrefix.")
    _check_access(properties)
    node_settings.check(properties)
    _check_network(store, properties)
    _check_keys(store, body)
    _check_rights(store, body, unseen)


def own_identities(body: Mapping[str, Any]) -> list[ArmId]:
    """Return the identities that a cluster is given."""
    return [ArmId(id_) for id_ in (body.get("identity") or {}).get("userAssignedIdentities") or {}]


def principals_of(store: Store, body: Mapping[str, Any]) -> list[str]:
    """Return who the identities are that a cluster is given and that exist."""
    found = map(store.find, own_identities(body))
    return [str(each.properties["principalId"]) for each in found if each]


def _check_access(properties: Mapping[str, Any]) -> None:
    api = properties.get("apiServerAccessProfile") or {}
    if api.get("enablePrivateCluster") and api.get("authorizedIPRanges"):
        raise invalid("apiServerAccessProfile.authorizedIPRanges", "It cannot be set for a private cluster.")
    for cidr in api.get("authorizedIPRanges") or []:
        _range("apiServerAccessProfile.authorizedIPRanges", cidr)


def _check_network(store: Store, properties: Mapping[str, Any]) -> None:
    network = properties["networkProfile"]
    path = "networkProfile"
    ranges = {name: network[name] for name in CIDRS if network.get(name)}
    for name, cidr in ranges.items():
        _range(f"{path}.{name}", cidr)
    services, dns = _range(f"{path}.serviceCidr", network["serviceCidr"]), network["dnsServiceIP"]
    if ip_address(dns) not in services or ip_address(dns) == services.network_address + 1:
        raise invalid(f"{path}.dnsServiceIP", f"{dns} must be in {services} and not its first address.")
    if "podCidr" in ranges and overlap(ranges["podCidr"], ranges["serviceCidr"]):
        raise invalid(f"{path}.podCidr", f"{ranges['podCidr']} overlaps with the service CIDR {services}.")
    subnets = list(_subnets(store, properties))
    for subnet in subnets:
        network_id = subnet.id.above.above
        for other in store.below(network_id, SUBNET):
            for prefix in prefixes_of(other.properties):
                if overlap(prefix, network["serviceCidr"]):
                    told = f"The specified service CIDR {services} is conflicted with an existing subnet CIDR {prefix}"
                    raise Refusal("ServiceCidrOverlapExistingSubnetsCidr", 400, told)
                if "podCidr" in ranges and overlap(prefix, ranges["podCidr"]):
                    told = f"The specified pod CIDR {ranges['podCidr']} is conflicted with subnet CIDR {prefix}"
                    raise invalid(f"{path}.podCidr", f"{told}.")
    egress.check_way(store, properties, subnets)


def _check_keys(store: Store, body: Mapping[str, Any]) -> None:
    properties = body["properties"]
    disks = properties.get("diskEncryptionSetID")
    if disks and store.find(disks) is None:
        raise invalid("diskEncryptionSetID", f"The disk encryption set {disks} was not found.")
    workspace = at(properties, "addonProfiles.omsagent.config.logAnalyticsWorkspaceResourceID")
    if workspace and store.find(workspace) is None:
        raise invalid("addonProfiles.omsagent", f"The workspace {workspace} was not found.")


def _check_rights(store: Store, body: Mapping[str, Any], unseen: Container[str]) -> None:
    for id_ in own_identities(body):
        if store.find(id_) is None:
            told = f"The identity {id_.text} was not found."
            raise Refusal("FailedIdentityOperation", 400, f"Failed to perform resource identity operation. {told}")
    principals = principals_of(store, body)
    has_zone = _has_private_zone(body["properties"])
    for subnet in _subnets(store, body["properties"]):
        network = subnet.id.above.above
        for principal in principals:
            if not may(store, principal, NETWORK_CONTRIBUTOR, subnet.id, unseen):
                raise _unlinked(principal, "Microsoft.Network/virtualNetworks/subnets/join/action", subnet.id)
            joins = any(may(store, principal, role, network, unseen) for role in (PRIVATE_DNS, NETWORK_CONTRIBUTOR))
            if has_zone and not joins:
                raise _unlinked(principal, "Microsoft.Network/virtualNetworks/join/action", network)
    _check_zone(store, body["properties"], principals, unseen)
    _check_kubelet(store, body, principals, unseen)
    egress.check_pull(store, body["properties"], unseen)
    keys.check(store, body, principals)


def _has_private_zone(properties: Mapping[str, Any]) -> bool:
    """Return whether AKS links a zone of private names to the network of the nodes.

    https://learn.microsoft.com/azure/aks/private-clusters
    """
    api = properties.get("apiServerAccessProfile") or {}
    return bool(api.get("enablePrivateCluster")) and api.get("privateDNSZone") != "none"


def own_zone(properties: Mapping[str, Any]) -> str:
    """Return the id of the private zone that a cluster is given for the name of its API; empty without one."""
    zone = str((properties.get("apiServerAccessProfile") or {}).get("privateDNSZone") or "")
    return zone if zone.startswith("/") else ""


def _check_zone(store: Store, properties: Mapping[str, Any], principals: list[str], unseen: Container[str]) -> None:
    if not (given := own_zone(properties)):
        return
    found = store.find(given)
    if found is None:
        raise not_referable(given, "apiServerAccessProfile.privateDNSZone")
    for principal in principals:
        if not may(store, principal, PRIVATE_DNS, found.id, unseen):
            told = "must be given permission to read and write to custom private dns zone"
            message = f"Service principal or user-assigned identity {told} {found.id.text}."
            raise Refusal("CustomPrivateDNSZoneMissingPermissionError", 400, message)


def _unlinked(principal: str, action: str, what: ArmId) -> Refusal:
    told = f"The client with object id '{principal}' has no permission for '{action}' on {what.text}"
    return Refusal("LinkedAuthorizationFailed", 403, f"{told}, or it does not hold yet.")


def _check_kubelet(store: Store, body: Mapping[str, Any], principals: list[str], unseen: Container[str]) -> None:
    kubelet = at(body, f"properties.identityProfile.{KUBELET}.resourceId")
    if not kubelet:
        return
    found = store.find(kubelet)
    if found is None:
        raise not_referable(kubelet, "identityProfile.kubeletidentity")
    for principal in principals:
        if not may(store, principal, IDENTITY_OPERATOR, found.id, unseen):
            told = "must be granted 'Managed Identity Operator' role to assign kubelet identity"
            message = f"The cluster using user-assigned managed identity {told}."
            raise Refusal("CustomKubeletIdentityMissingPermissionError", 400, message)


def _subnets(store: Store, properties: Mapping[str, Any]) -> Iterator[Resource]:
    seen = {(pool.get("vnetSubnetID") or "").lower(): None for pool in properties["agentPoolProfiles"]}
    for id_ in filter(None, seen):
        found = store.find(id_)
        if found is None:
            raise invalid("agentPoolProfile.vnetSubnetID", f"The subnet {id_} was not found.")
        yield found


def _range(parameter: str, cidr: str) -> Any:
    try:
        return ip_network(cidr)
    except ValueError:
        raise invalid(parameter, f"{cidr} is no range of addresses.") from None
