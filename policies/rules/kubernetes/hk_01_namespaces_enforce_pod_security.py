"""HK-01: namespaces enforce Pod Security."""

from collections.abc import Iterator

from components.contract.environments import Environment, PlatformProfile
from components.contract.labels import TRUE, LabelKey, WellKnownLabel
from components.contract.namespaces import BASELINE_LEVEL, OPEN_LEVEL, V3IO_NAMESPACES
from policies.resource import Resource
from policies.rule import Context, Finding, Level, Rule, Severity, resources_of
from policies.views.type_tokens import NAMESPACE

SAFE = (BASELINE_LEVEL, "restricted")


def check(namespace: Resource, context: Context) -> Iterator[Finding]:
    """Require an enforced level that rejects privileged pods, except where other policies do.

    In user namespaces that Pod Security leaves open, admission policies of this package enforce the baseline. V3IO's
    daemons need privileged pods.
    """
    metadata = namespace.props.at("metadata")
    enforced = metadata.at("labels", WellKnownLabel.POD_SECURITY_ENFORCE.value).text()
    is_held = metadata.at("labels", LabelKey.USER_WORKLOADS.value).text() == TRUE
    is_v3io = context.profile is PlatformProfile.IGUAZIO and metadata.at("name").text() in V3IO_NAMESPACES
    if enforced not in SAFE and not (enforced == OPEN_LEVEL and (is_held or is_v3io)):
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
