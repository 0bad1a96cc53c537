"""Limits of EKS's network policy agent on the egress of a namespace."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Any, Final, TypeAlias

from components.contract.egress import AllowedEgress
from components.contract.eks.config import EksConfig
from components.contract.namespaces import UserNamespace
from components.contract.ranges import EVERYWHERE

PAIRS_MAX: Final = 24
"""Pairs of port and protocol that the agent keeps for a range; it drops others, with a line in its log only.

aws/aws-network-policy-agent v1.4.1, ``ComputeTrieValue`` in ``pkg/utils/utils.go`` and ``MAX_PORT_PROTOCOL`` in
``pkg/ebpf/c/tc.v4egress.bpf.c``. Policies that select the same pods are joined, and a range also gets the pairs of
wider ranges around it: ``ComputeMapEntriesFromEndpointRules`` in ``pkg/fwruleprocessor/fw_rule_processor.go``.
"""

_ALL_PORTS: Final = ({"port": 0, "protocol": "any"},)
_ALL_ADDRESSES: Final = ({"ipBlock": {"cidr": str(EVERYWHERE)}},)
"""What a rule without ports, or without destinations, becomes for the agent."""


_Network: TypeAlias = IPv4Network | IPv6Network


@dataclass(frozen=True, slots=True)
class _Allowed:
    """One range of one rule."""

    network: _Network
    pairs: frozenset[tuple[int, str]]
    but: tuple[_Network, ...] = ()

    def reaches(self, network: _Network) -> bool:
        """Whether the agent gives the pairs of this range to ``network`` too."""
        if network == self.network:
            return True
        return _is_around(self.network, network) and not any(network.network_address in each for each in self.but)


def egress_problems(choices: EksConfig, namespace: UserNamespace, derived: Sequence[AllowedEgress]) -> Iterator[str]:
    """Find ranges for which the agent would drop ports; of those inside one another, the widest."""
    allowed = [*_allowed(namespace, derived), _dns(choices)]
    over = dict[_Network, int]()
    for network in dict.fromkeys(each.network for each in allowed):
        pairs = {pair for each in allowed if each.reaches(network) for pair in each.pairs}
        if len(pairs) > PAIRS_MAX:
            over[network] = len(pairs)
    for network, count in over.items():
        if not any(wider != network and _is_around(wider, network) for wider in over):
            yield (
                f"opens {count} pairs of port and protocol in {network}, with those of wider ranges and of this "
                f"package's own policies; EKS keeps {PAIRS_MAX} and drops others without an error; list fewer ports, "
                "or open all by egressCidrs instead"
            )


def _is_around(wider: _Network, network: _Network) -> bool:
    return wider.prefixlen <= network.prefixlen and network.network_address in wider


def _allowed(namespace: UserNamespace, derived: Sequence[AllowedEgress]) -> Iterator[_Allowed]:
    rules: list[Mapping[str, Any]] = [rule for each in namespace.egress_policies(derived).values() for rule in each]
    if namespace.core_services:
        rules.append({})  # they may reach everything
    for rule in rules:
        pairs = frozenset((each["port"], each["protocol"]) for each in rule.get("ports", _ALL_PORTS))
        for peer in rule.get("to", _ALL_ADDRESSES):
            block = peer["ipBlock"]
            yield _Allowed(ip_network(block["cidr"]), pairs, tuple(map(ip_network, block.get("except", ()))))


def _dns(choices: EksConfig) -> _Allowed:
    # Pods of DNS may have any address of pods. Other pods that a namespace reaches need one pair, and so less.
    return _Allowed(ip_network(choices.pod_cidr or choices.network.cidr), frozenset({(53, "UDP"), (53, "TCP")}))
