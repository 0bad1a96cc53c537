"""HK-01: namespaces enforce Pod Security."""

from collections.abc import Iterator
from functools import partial

from components.contract.environments import Environment, PlatformProfile
from components.contract.labels import TRUE, LabelKey, WellKnownLabel
from components.contract.namespaces import BASELINE_LEVEL, OPEN_LEVEL, V3IO_NAMESPACES
from components.contract.pod_security import POLICY_NAME
from policies.resource import Resource, Stack
from policies.rule import Context, Finding, Level, Rule, Severity, WholeStack
from policies.values import each, some
from policies.views.type_tokens import ADMISSION_BINDING, ADMISSION_POLICY, NAMESPACE, NAMESPACE_PATCH

SAFE = (BASELINE_LEVEL, "restricted")


def check(stack: Stack, context: Context) -> Iterator[Finding]:
    """Require an enforced level that rejects privileged pods, except where other policies do.

    In user namespaces that Pod Security leaves open, an admission policy of this package enforces the baseline, which
    must then be part of the stack. V3IO's daemons need privileged pods.
    """
    namespaces = [resource for resource in stack if resource.type in (NAMESPACE, NAMESPACE_PATCH)]
    yield from each(namespaces, partial(_problems, stack, context))


def _problems(stack: Stack, context: Context, namespace: Resource) -> Iterator[Finding]:
    metadata = namespace.props.at("metadata")
    enforced = metadata.at("labels", WellKnownLabel.POD_SECURITY_ENFORCE.value).text()
    is_patch = namespace.type == NAMESPACE_PATCH  # the namespace may have what the patch leaves out
    if enforced in SAFE or (is_patch and enforced is None):
        return
    found = f"Namespace '{namespace.name}' has {WellKnownLabel.POD_SECURITY_ENFORCE} {enforced or 'absent'}"
    if enforced == OPEN_LEVEL:
        if context.profile is PlatformProfile.IGUAZIO and metadata.at("name").text() in V3IO_NAMESPACES:
            return
        mark = metadata.at("labels", LabelKey.USER_WORKLOADS.value).text()
        if mark == TRUE or (is_patch and mark is None):
            missing = [kind for kind, has in _PARTS.items() if not some(stack, has)]
            if missing:
                yield Finding(
                    f"{found}, but the stack has no {' and no '.join(missing)} '{POLICY_NAME}'; expected both.",
                    urn=namespace.urn,
                )
            return
    yield Finding(f"{found}; expected {' or '.join(SAFE)}.", urn=namespace.urn)


def _is_policy(resource: Resource) -> bool:
    if resource.type != ADMISSION_POLICY or resource.props.at("metadata", "name").text() != POLICY_NAME:
        return False
    return bool(resource.props.at("spec", "validations").elements())


def _is_binding(resource: Resource) -> bool:
    """Return whether it applies the policy to all namespaces, and does more than write to the audit log."""
    spec = resource.props.at("spec")
    if resource.type != ADMISSION_BINDING or spec.at("policyName").text() != POLICY_NAME:
        return False
    acts = any(action.text() in ("Deny", "Warn") for action in spec.at("validationActions").elements())
    return acts and spec.at("matchResources").is_absent


_PARTS = {"admission policy": _is_policy, "binding for all namespaces of": _is_binding}
"""What enforces the baseline; it warns until ``policies.admission`` is ``deny``."""


RULE = Rule(
    id="HK-01",
    slug="namespaces-enforce-pod-security",
    title="Namespaces must enforce a Pod Security level",
    severity=Severity.HIGH,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="CIS EKS benchmark, 4.2 (Pod Security Standards)",
    applies_to=WholeStack(),
    why="Without the label, the API server accepts pods that run as root on their node.",
    fix=f"Label the namespace with {WellKnownLabel.POD_SECURITY_ENFORCE}: {SAFE[0]}, or create the admission policy "
    f"{POLICY_NAME} of components/scheduling/pod_security.py and its binding in the same stack.",
    check=check,
)
