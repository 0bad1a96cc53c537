"""HN-03: nobody on the internet can knock at a node's door."""

from collections.abc import Iterator
from typing import Final

from policies.rule import MANDATORY_EVERYWHERE, Context, Finding, Rule, Severity
from policies.views.ingress import INGRESSES, SSH_PORT, Ingress

PORTS: Final = {SSH_PORT: "SSH", 3389: "remote desktop", 10250: "kubelet"}
"""What gives power over a machine: its shells, and the kubelet's API (Kubernetes documentation, ports)."""


def check(ingress: Ingress, _: Context) -> Iterator[Finding]:
    """Demand that no rule, in any of its spellings, lets the world to these ports."""
    opened = ", ".join(f"{port} ({name})" for port, name in PORTS.items() if ingress.opens(port))
    if opened and ingress.is_for_the_world():
        yield Finding(f"{ingress} opens {opened} to the internet, wanted named ranges or security groups.")


RULE = Rule(
    id="HN-03",
    slug="nodes-are-closed-to-the-world",
    title="SSH, remote desktop and the kubelet are closed to the internet",
    severity=Severity.CRITICAL,
    level=MANDATORY_EVERYWHERE,
    source="EKS best practices, security (hosts: minimise access to worker nodes); checkov, CKV_AWS_100",
    applies_to=INGRESSES,
    why="These ports are tried all day long; whoever gets in owns the node and every pod on it.",
    fix="Drop the rule, or name ranges or security groups; for EKS drop remoteAccess and use Session Manager.",
    check=check,
)
