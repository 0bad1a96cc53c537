"""Destinations that pods of user namespaces may reach, each with its ports and its reason."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field

from components.contract.choices import ContractModel, Explained
from components.contract.ranges import EVERYWHERE, NEVER_PUBLIC

METADATA: Final = tuple(
    map(ip_network, ("169.254.0.0/16", "168.63.129.16/32", "fd00:ec2::254/128", "fd00:ec2::23/128"))
)
"""Addresses at which clouds serve credentials; no setting of a namespace opens them.

Link-local addresses (among them the metadata of EC2 and Azure, 169.254.169.254, and AWS's agents for containers,
169.254.170.2 and 169.254.170.23), Azure's WireServer, and the IPv6 addresses of EC2's metadata and of the agent of Pod
Identity: https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16,
https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html,
https://docs.aws.amazon.com/eks/latest/userguide/pod-id-agent-setup.html.
"""

_MAPPED: Final = IPv6Network("::ffff:0:0/96")
"""IPv4 addresses in IPv6 form: RFC 4291, section 2.5.5.2."""

HTTPS: Final = 443
API_PORTS: Final = (HTTPS, 6443)
"""Ports of the API server if the kind of cluster fixes none: the Service's, and kubeadm's default."""

PORT_MAX: Final = 65535

V3IO_PORTS: Final = (8081, 8443)
"""Ports of V3IO's web API on every node: ``hostPort`` and ``sslHostPort`` in its chart's values.

https://github.com/v3io/helm-charts/blob/045bc108cfe096c25fd666653b5d883d918c0d3d/stable/v3io-webapi/values.yaml
"""


@dataclass(frozen=True, kw_only=True)
class AllowedEgress:
    """Egress of all pods of a user namespace, as one network policy."""

    name: str
    """Name of the policy, without ``allow-``."""
    cidrs: tuple[str, ...]
    """Ranges; empty means every address, for destinations whose addresses a policy cannot name."""
    ports: tuple[int, ...]
    """TCP ports."""
    but: tuple[str, ...] = ()
    """Ranges inside ``cidrs`` that are left out, in addition to ``METADATA``."""

    @property
    def rule(self) -> dict[str, Any]:
        """An egress rule of a network policy."""
        to = [{"ipBlock": ip_block(cidr, self.but)} for cidr in self.cidrs]
        return {**({"to": to} if to else {}), "ports": _ports(self.ports)}


def to_api_server(*cidrs: str, ports: tuple[int, ...] = API_PORTS, but: tuple[str, ...] = ()) -> AllowedEgress:
    """Return the egress to the API server.

    Parameters
    ----------
    cidrs
        Ranges of the Service ``kubernetes`` and of its endpoints; network plug-ins differ in which of them they match:
        https://kubernetes.io/docs/concepts/services-networking/network-policies/#behavior-of-to-and-from-selectors.
    ports
        TCP ports of both.
    but
        Ranges inside ``cidrs`` that are left out.
    """
    return AllowedEgress(name=API_SERVER, cidrs=cidrs, ports=ports, but=but)


def replaced_api_server(derived: Sequence[AllowedEgress], chosen: Sequence[str] | None) -> tuple[AllowedEgress, ...]:
    """Return a cluster's egress with the ranges of the API server that a namespace chose; None keeps the cluster's."""
    if chosen is None:
        return tuple(derived)
    ports = next((each.ports for each in derived if each.name == API_SERVER), API_PORTS)
    others = tuple(each for each in derived if each.name != API_SERVER)
    return (*others, *([to_api_server(*chosen, ports=ports)] if chosen else []))


API_SERVER: Final = "api-server"
"""Name of the egress that a namespace's ``apiServerCidrs`` replaces."""

V3IO: Final = AllowedEgress(name="v3io", cidrs=(), ports=V3IO_PORTS)
"""V3IO's web API. Its daemons use their node's network, which selectors do not match; under Cilium, nor do ranges."""


CLOUD_APIS: Final = AllowedEgress(
    name="cloud-apis", cidrs=(str(EVERYWHERE),), ports=(HTTPS,), but=tuple(map(str, NEVER_PUBLIC))
)
"""Storage, registries and sign-in of a cloud, whose public addresses are many and change."""


def _cidr(text: str) -> str:
    try:
        network = ip_network(text, strict=False)
    except ValueError:
        raise ValueError("is not a CIDR range such as 10.0.0.0/16 or fd00::/8") from None
    if isinstance(network, IPv6Network) and network.subnet_of(_MAPPED):
        ipv4 = IPv4Network((network.network_address.packed[-4:], network.prefixlen - _MAPPED.prefixlen))
        raise ValueError(f"is an IPv4 range in IPv6 form; write it as '{ipv4}' if pods may reach it")
    if str(network) != text:  # Kubernetes accepts the canonical form only
        raise ValueError(f"must be written as '{network}'")
    for kept in METADATA:
        if _is_inside(network, kept):
            raise ValueError(f"is inside {kept}, where clouds serve credentials; remove it")
    return text


def _reason(text: str) -> str:
    if not text.strip() or not text.isprintable():
        raise ValueError("must say in one line what pods need there, such as 'object store'")
    return text


def _is_inside(inner: IPv4Network | IPv6Network, outer: IPv4Network | IPv6Network) -> bool:
    if isinstance(inner, IPv4Network):
        return isinstance(outer, IPv4Network) and inner.subnet_of(outer)
    return isinstance(outer, IPv6Network) and inner.subnet_of(outer)


def ip_block(cidr: str, but: Iterable[str] = ()) -> dict[str, Any]:
    """Return the ``ipBlock`` of a network policy for a range, without metadata addresses and the ranges ``but``."""
    network = ip_network(cidr)
    kept = dict.fromkeys(str(each) for each in (*METADATA, *map(ip_network, but)) if _is_inside(each, network))
    return {"cidr": cidr, **({"except": list(kept)} if kept else {})}


def _ports(ports: Iterable[int], protocol: str = "TCP") -> list[dict[str, Any]]:
    return [{"port": port, "protocol": protocol} for port in ports]


EgressCidr = Annotated[str, AfterValidator(_cidr)]
Port = Annotated[int, Field(ge=1, le=PORT_MAX, strict=True)]


class Destination(ContractModel):
    """A destination outside the cluster that pods may reach."""

    reason: Annotated[str, AfterValidator(_reason)] = Field(
        max_length=200, description="What pods need there.", examples=["object store"]
    )
    cidrs: tuple[EgressCidr, ...] = Field(
        min_length=1, description="CIDR ranges of the destination.", examples=[["10.8.0.0/24"]]
    )
    ports: tuple[Port, ...] = Field(min_length=1, description="Ports of the destination.", examples=[[443]])
    protocol: Annotated[Literal["TCP", "UDP"], Explained("Registries, stores and V3IO use TCP.")] = Field(
        "TCP", description="Protocol of the ports.", examples=["UDP"]
    )

    @property
    def rule(self) -> dict[str, Any]:
        """An egress rule of a network policy."""
        to = [{"ipBlock": ip_block(cidr)} for cidr in self.cidrs]
        return {"to": to, "ports": _ports(self.ports, self.protocol)}
