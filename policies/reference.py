"""The reference page of all rules, made from the rules themselves.

``python -m policies.reference --write`` renews it, ``--check`` fails if it is not current.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from components.contract.environments import Environment
from policies.generated import keep_current
from policies.registry import RULES, rules_of
from policies.rule import Pack, Rule

PAGE: Final = Path(__file__).parent.parent / "docs" / "policies.md"

_INTRODUCTION: Final = """\
# Policies

<!-- Made by `python -m policies.reference --write`; edit the rules instead. -->

Every preview and every update is judged by these rules. A *mandatory* one fails the run, an *advisory* one is printed.
The level depends on the environment. The first of these that names one decides: the rule's own configuration
(`environment`), the stack's configuration (`igz-clusters:stack`, `environment`), the stack tag `environment`. Without
any, a cluster is judged as production.

<a id="could-not-be-judged"></a>

## Could not be judged

A preview may need a value that is known only after the update. Unknown is neither right nor wrong, so the rule says
that it could not be judged, and where the value is. A mandatory rule then fails in CI (`CI=true`) and notes it
elsewhere; `IGZ_CLUSTERS_POLICY_UNKNOWN=fail` or `note` decides otherwise.
"""


def render() -> str:
    """Return the page."""
    return "\n".join([_INTRODUCTION, *_index(), *(line for rule in RULES for line in _section(rule))])


def _index() -> Iterator[str]:
    for pack in Pack:
        yield from (f"## Pack `{pack}`", "", "| Rule | Demands | dev | prod |", "|---|---|---|---|")
        for rule in rules_of(pack):
            levels = " | ".join(rule.level[environment] for environment in Environment)
            yield f"| [{rule.id}](#{rule.anchor}) | {rule.title} | {levels} |"
        yield ""


def _section(rule: Rule[Any]) -> Iterator[str]:
    yield from (f'<a id="{rule.anchor}"></a>', "", f"## {rule.id}: {rule.title}", "")
    yield from (f"{rule.why}", "", f"**Fix.** {rule.fix}", "")
    yield f"- Judges {rule.applies_to.noun}; severity {rule.severity}."
    yield f"- Source: {rule.source}."
    yield f"- Policy name: `{rule.name}`. [Examples](../policies/rules/examples/{rule.anchor})"
    yield ""


if __name__ == "__main__":
    sys.exit(keep_current(PAGE, render(), "policies.reference", __doc__))
