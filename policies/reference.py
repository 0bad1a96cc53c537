"""The reference page of all rules, generated from the rules.

``python -m policies.reference --write`` renews it, ``--check`` fails if it is out of date.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from components.contract.environments import Environment
from policies.examples import file_of
from policies.generated import keep_current
from policies.not_enforceable import NOT_ENFORCEABLE, NotEnforceable
from policies.registry import RULES, rules_of
from policies.rule import Pack, Rule

PAGE: Final = Path(__file__).parent.parent / "docs" / "policies.md"

_INTRODUCTION: Final = """\
# Policies

<!-- Made by `python -m policies.reference --write`; edit the rules instead. -->

These rules check every preview and every update. A *mandatory* one fails the run, an *advisory* one is printed.
The level depends on the environment. The first source that names one decides: the rule's own configuration
(`environment`), the stack's configuration (`igz-clusters:stack`, `environment`), the stack tag `environment`. Without
any source, a cluster counts as production.
"""

_JUDGEMENT: Final = """\
<a id="could-not-be-judged"></a>

## Could not be judged

A value may be unknown until the update. The rule then reports that it
could not be judged, and which value is missing. A mandatory rule then fails in CI (`CI=true`) and prints a note
elsewhere; `IGZ_CLUSTERS_POLICY_UNKNOWN=fail` or `note` overrides that.

<a id="waivers"></a>

## Waivers

`policies/overrides.yaml` next to the stack files waives single violations, each with reason, owner, ticket and last
day, at most 90 days ahead ([example](policies-in-use.md#a-waiver)). An expired or invalid row fails
the run, an unused one is reported, and every run prints what is waived. `approvals` in the same file are for
[changes that destroy](policies-in-use.md#a-change-that-destroys).
"""


_COVERAGE: Final = """\
## Coverage

The requirements of each document, the rules that check them, their examples, and where they are enforced. A
preview and an update check what the program declares. Admission also checks objects created at run time:
the pods of MLRun, Nuclio and Spark.
"""

_NOT_ENFORCEABLE: Final = """\
<a id="not-enforceable"></a>

### Not enforceable

| Source | Requires | Why no rule checks it |
|---|---|---|"""


def render() -> str:
    """Return the page."""
    sections = (line for rule in RULES for line in _section(rule))
    return "\n".join([_INTRODUCTION, *_index(), _JUDGEMENT, *_coverage(), *sections])


def _index() -> Iterator[str]:
    columns = "| Rule | Requirement | About | Pack | Severity | dev | prod |"
    yield from ("## All rules", "", columns, "|---|---|---|---|---|---|---|")
    for rule in (rule for pack in Pack for rule in rules_of(pack)):
        levels = " | ".join(rule.level[environment] for environment in Environment)
        known = f"{_subject(rule)} | {rule.pack.replace('_', ' ')} | {rule.severity} | {levels}"
        yield f"| [{rule.id}](#{rule.anchor}) | {rule.title} | {known} |"
    yield ""


def _subject(rule: Rule[Any]) -> str:
    """Return what a rule is about: the family of rules that its file is in."""
    family = file_of(rule.id).parent.parent.name.replace("_", " ")
    return family.upper() if family in {"aks", "eks"} else family


def _coverage() -> Iterator[str]:
    yield _COVERAGE
    for document in sorted({_document(rule) for rule in RULES}):
        header = "| Section | Requirement | Rule | Examples | Enforced at |"
        yield from (f"### {document}", "", header, "|---|---|---|---|---|")
        yield from (_covered(rule) for rule in RULES if _document(rule) == document)
        yield ""
    yield _NOT_ENFORCEABLE
    for entry in NOT_ENFORCEABLE:
        yield f"| {_source(entry)} | {entry.advice} | {entry.reason} |"
    yield ""


def _document(rule: Rule[Any]) -> str:
    return rule.source.partition(", ")[0]


def _covered(rule: Rule[Any]) -> str:
    section = rule.source.partition(", ")[2]
    return f"| {section} | {rule.title} | [{rule.id}](#{rule.anchor}) | {_examples(rule)} | {_places(rule)} |"


def _places(rule: Rule[Any]) -> str:
    return "preview and update" + (f"; admission of {rule.admission.subject}" if rule.admission else "")


def _examples(rule: Rule[Any]) -> str:
    file = file_of(rule.id)
    return f"[{file.name}](../{file.relative_to(PAGE.parent.parent)})"


def _source(entry: NotEnforceable) -> str:
    return f"{entry.source} ({entry.id})" if entry.id else entry.source


def _section(rule: Rule[Any]) -> Iterator[str]:
    yield from (f'<a id="{rule.anchor}"></a>', "", f"## {rule.id}: {rule.title}", "")
    yield from (f"{rule.why}", "", f"**Fix.** {rule.fix}", "")
    levels = ", ".join(f"{environment} {rule.level[environment]}" for environment in Environment)
    yield f"- Checks {rule.applies_to.noun}; severity {rule.severity}; {levels}."
    yield f"- Source: {rule.source}."
    yield f"- Policy name: `{rule.name}`. Examples: {_examples(rule)}. Enforced at: {_places(rule)}."
    yield ""


if __name__ == "__main__":
    sys.exit(keep_current(PAGE, render(), "policies.reference", __doc__))
