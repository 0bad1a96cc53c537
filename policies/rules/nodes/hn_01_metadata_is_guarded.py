"""HN-01: a pod cannot read the credentials of the machine that it runs on."""

from collections.abc import Iterator

from components.contract.environments import PlatformProfile
from policies.remediation import Draft
from policies.resource import Resource
from policies.rule import MANDATORY_EVERYWHERE, Context, Finding, Rule, Severity, resources_of
from policies.views.type_tokens import LAUNCH_TEMPLATE

HOPS, HOPS_OF_THE_INSTALLER = 1, 2


def check(template: Resource, context: Context) -> Iterator[Finding]:
    """Demand tokens, and answers that do not leave the machine; Provazio's host runs its installer in a container."""
    options = template.props.at("metadataOptions")
    tokens = options.at("httpTokens").text()
    if tokens != "required":
        yield Finding(f"Launch template '{template.name}' has httpTokens {tokens or 'absent'}, wanted required.")
    most, hops = _most(context), options.at("httpPutResponseHopLimit").integer()
    if hops is None or hops > most:
        found = "absent" if hops is None else hops
        yield Finding(f"Launch template '{template.name}' has httpPutResponseHopLimit {found}, wanted {most}.")


def remedy(template: Draft, context: Context) -> None:
    """Demand tokens, and lower the limit where it is above what the profile needs."""
    template.set("required", "metadataOptions", "httpTokens")
    hops = template.get("metadataOptions", "httpPutResponseHopLimit")
    if not isinstance(hops, int | float) or hops > _most(context):
        template.set(_most(context), "metadataOptions", "httpPutResponseHopLimit")


def _most(context: Context) -> int:
    return HOPS_OF_THE_INSTALLER if context.profile is PlatformProfile.IGUAZIO else HOPS


RULE = Rule(
    id="HN-01",
    slug="metadata-is-guarded",
    title="Instance metadata wants a token and is out of reach of pods",
    severity=Severity.HIGH,
    level=MANDATORY_EVERYWHERE,
    source="EKS best practices, security (restrict access to the instance profile)",
    applies_to=resources_of("each launch template", LAUNCH_TEMPLATE),
    why="Whoever can ask the metadata service from a pod acts with the rights of the node.",
    fix=f"Set metadataOptions.httpTokens to required and httpPutResponseHopLimit to {HOPS}.",
    check=check,
    remedy=remedy,
)
