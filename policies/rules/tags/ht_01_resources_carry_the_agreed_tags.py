"""HT-01: cloud resources carry the required tags."""

from collections.abc import Iterator

from components.contract.environments import Environment
from policies.rule import Context, Finding, Level, Rule, Severity
from policies.views.tags import TAGGED, Tagged


def check(thing: Tagged, context: Context) -> Iterator[Finding]:
    """Require the tags that the stack file lists, each with a value."""
    wanted = context.choices.required_tags
    missing = [key for key in wanted if not thing.says(key)]
    if missing:
        yield Finding(f"{thing} lacks the tags {', '.join(missing)}; expected {', '.join(wanted)}.")


RULE = Rule(
    id="HT-01",
    slug="resources-carry-the-agreed-tags",
    title="Cloud resources must carry the required tags",
    severity=Severity.LOW,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="AWS tagging guide, tags for cost allocation and for operations",
    applies_to=TAGGED,
    why="Tags attribute cost and show whom to ask before a resource is deleted.",
    fix="Add them to cluster.tags in the stack file; policies.requiredTags lists the required ones.",
    check=check,
)
