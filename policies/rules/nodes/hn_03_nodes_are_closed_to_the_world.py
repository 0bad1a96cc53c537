"""HN-03: SSH, remote desktop and the kubelet are not open to the internet."""

from collections.abc import Iterator
from typing import Final

from policies.rule import MANDATORY_EVERYWHERE, Context, Finding, Rule, Severity
from policies.views.ingress import INGRESSES, SSH_PORT, Ingress

PORTS: Final = {SSH_PORT: "SSH", 3389: "remote desktop", 10250: "kubelet"}
"""Ports that give control of a machine: remote shells and the kubelet's API (Kubernetes documentation, ports)."""


def check(ingress: Ingress, _: Context) -> Iterator[Finding]:
    """Reject ingress rules, in any spelling, that open these ports to the internet."""
    opened = ", ".join(f"{port} ({name})" for port, name in PORTS.items() if ingress.opens(port))
    if opened and ingress.is_for_the_world():
        yield Finding(f"{ingress} opens {opened} to the internet; expected specific CIDR ranges or security groups.")


RULE = Rule(
    id="HN-03",
    slug="nodes-are-closed-to-the-world",
    title="SSH, remote desktop and the kubelet must not be open to the internet",
    severity=Severity.CRITICAL,
    level=MANDATORY_EVERYWHERE,
    source="EKS best practices, security (hosts: minimise access to worker nodes); checkov, CKV_AWS_100",
    applies_to=INGRESSES,
    why="These ports are scanned constantly, and an attacker who gets in controls the node and all its pods.",
    fix="Remove the rule, or allow only your CIDR ranges or security groups. On EKS, use Session Manager, not "
    "remoteAccess.",
    check=check,
)
