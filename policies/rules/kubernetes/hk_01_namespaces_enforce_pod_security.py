"""HK-01: namespaces enforce Pod Security."""

from collections.abc import Iterator

from components.contract.environments import Environment, PlatformProfile
from components.contract.labels import WellKnownLabel
from components.contract.namespaces import V3IO_NAMESPACES
from policies.resource import Resource
from policies.rule import Context, Finding, Level, Rule, Severity, resources_of
from policies.views.type_tokens import NAMESPACE

SAFE = ("baseline", "restricted")
OPEN = "privileged"


def check(namespace: Resource, context: Context) -> Iterator[Finding]:
    """Require an enforced level that rejects privileged pods, except for V3IO's daemons, which need them."""
    metadata = namespace.props.at("metadata")
    enforced = metadata.at("labels", WellKnownLabel.POD_SECURITY_ENFORCE.value).text()
    may_be_open = enforced == OPEN and context.profile is PlatformProfile.IGUAZIO
    if enforced not in SAFE and not (may_be_open and metadata.at("name").text() in V3IO_NAMESPACES):
        found = f"{WellKnownLabel.POD_SECURITY_ENFORCE} {enforced or 'absent'}"
        yield Finding(f"Namespace '{namespace.name}' has {found}; expected {' or '.join(SAFE)}.")


RULE = Rule(
    id="HK-01",
    slug="namespaces-enforce-pod-security",
    title="Namespaces must enforce a Pod Security level",
    severity=Severity.HIGH,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="CIS EKS benchmark, 4.2 (Pod Security Standards)",
    applies_to=resources_of("each namespace", NAMESPACE),
    why="Without the label, the API server accepts pods that run as root on their node.",
    fix=f"Label the namespace with {WellKnownLabel.POD_SECURITY_ENFORCE}: {SAFE[0]}.",
    check=check,
)
