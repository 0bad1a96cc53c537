"""HT-01: every resource says whose it is, what for, and who pays."""

from collections.abc import Iterator

from components.contract.environments import Environment
from policies.rule import Context, Finding, Level, Rule, Severity
from policies.views.tags import TAGGED, Tagged


def check(thing: Tagged, context: Context) -> Iterator[Finding]:
    """Demand the tags that the stack file asks for, each with a value."""
    wanted = context.choices.required_tags
    missing = [key for key in wanted if not thing.says(key)]
    if missing:
        yield Finding(f"{thing} lacks the tags {', '.join(missing)}, wanted {', '.join(wanted)}.")


RULE = Rule(
    id="HT-01",
    slug="resources-carry-the-agreed-tags",
    title="Cloud resources carry the agreed tags",
    severity=Severity.LOW,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="AWS tagging guide, tags for cost allocation and for operations",
    applies_to=TAGGED,
    why="Without them nobody can split the bill, or find out whom to ask before something is deleted.",
    fix="Add them under cluster.tags of the stack file; policies.requiredTags says which are asked for.",
    check=check,
)
