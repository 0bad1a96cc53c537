"""HN-01: pods cannot read the credentials of their node."""

from collections.abc import Iterator

from components.contract.environments import PlatformProfile
from policies.remediation import Draft
from policies.resource import Resource
from policies.rule import MANDATORY_EVERYWHERE, Context, Finding, Rule, Severity, resources_of
from policies.views.type_tokens import LAUNCH_TEMPLATE

HOPS, HOPS_OF_THE_INSTALLER = 1, 2


def check(template: Resource, context: Context) -> Iterator[Finding]:
    """Require IMDSv2 tokens and a hop limit that excludes pods; Provazio's installer, a container, needs 2."""
    options = template.props.at("metadataOptions")
    tokens = options.at("httpTokens").text()
    if tokens != "required":
        yield Finding(f"Launch template '{template.name}' has httpTokens {tokens or 'absent'}; expected required.")
    most, hops = _most(context), options.at("httpPutResponseHopLimit").integer()
    if hops is None or hops > most:
        found = "absent" if hops is None else hops
        yield Finding(f"Launch template '{template.name}' has httpPutResponseHopLimit {found}; expected {most}.")


def remedy(template: Draft, context: Context) -> None:
    """Require tokens, and a hop limit within what the profile needs."""
    template.set("required", "metadataOptions", "httpTokens")
    hops = template.get("metadataOptions", "httpPutResponseHopLimit")
    if not isinstance(hops, int | float) or hops > _most(context):
        template.set(_most(context), "metadataOptions", "httpPutResponseHopLimit")


def _most(context: Context) -> int:
    return HOPS_OF_THE_INSTALLER if context.profile is PlatformProfile.IGUAZIO else HOPS


RULE = Rule(
    id="HN-01",
    slug="metadata-is-guarded",
    title="Instance metadata must require a token and be unreachable from pods",
    severity=Severity.HIGH,
    level=MANDATORY_EVERYWHERE,
    source="EKS best practices, security (restrict access to the instance profile)",
    applies_to=resources_of("each launch template", LAUNCH_TEMPLATE),
    why="A pod that reaches the metadata service can act with the node's rights.",
    fix=f"Set metadataOptions.httpTokens to required and httpPutResponseHopLimit to {HOPS}.",
    check=check,
    remedy=remedy,
)
