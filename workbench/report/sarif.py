"""Renders findings as SARIF 2.1.0, for code scanning and editors.

GitHub's code scanning does not read suppressions (<https://github.com/github/codeql-action/issues/1230>): it shows
waived findings as open alerts. Such results are therefore notes, whatever the rule's level. A report may fail without
findings, so incomplete evaluations and other reasons of the verdict are notifications of the run.
"""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from infra.config.problems import printable
from policies.registry import RULES
from workbench import stacks
from workbench.report.model import Finding, FindingStatus, Outcome, Report, StackReport
from workbench.report.words import STANDINGS, type_and_name
from workbench.stacks.origins import Origin
from workbench.system.errors import UserError

SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

_TEXT_MAX: Final = 1_000
_NODE_GROUP: Final = ("NodeGroup", "AgentPool", "LocalCluster$kubernetes:core/v1:Node")
"""Parts of the type names of resources that belong to a single pool."""

_LEVELS: Final = {
    FindingStatus.VIOLATED: "error",
    FindingStatus.UNJUDGED: "error",
    FindingStatus.EXCUSED: "note",
    FindingStatus.WAIVED: "note",
    FindingStatus.ADVISED: "warning",
}
_SUPPRESSIONS: Final = {FindingStatus.EXCUSED: "underReview", FindingStatus.WAIVED: "accepted"}
_RULES: Final = {rule.id: rule for rule in RULES}


def render(report: Report) -> str:
    """Return the findings, each located in the stack's file, or at its pool's line in that file or its base."""
    found = [(stack, finding) for stack in report.stacks for finding in stack.findings]
    rules = {finding.rule: finding for _, finding in reversed(found)}
    files = stacks.stack_files()
    places = {stack.stack: _Place(stack.stack, files.get(stack.stack)) for stack in report.stacks}
    run = {
        "tool": {"driver": {"name": "igz-clusters", "rules": [_rule(rules[name]) for name in sorted(rules)]}},
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": report.outcome is not Outcome.UNJUDGED,
                "toolExecutionNotifications": [
                    {"level": level, "message": _text(text)} for level, text in _notifications(report)
                ],
            }
        ],
        "results": [_result(stack, finding, places[stack.stack]) for stack, finding in found],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def _notifications(report: Report) -> Iterator[tuple[str, str]]:
    """Yield level and text of what the results do not show."""
    yield from (("error", text) for text in report.problems)
    for stack in report.stacks:
        yield from (("error", f"{stack.stack}: {text}") for text in (*stack.reasons, *stack.problems))
        yield from (("warning", f"{stack.stack}: {text}") for text in stack.notes)


class _Place:
    """The file of a stack, and the lines of its pools if it is valid."""

    def __init__(self, stack: str, file: Path | None) -> None:
        self._uri = quote(stacks.shown_path(file)) if file else quote(f"Pulumi.{printable(stack)}.yaml", safe="")
        self._stack = stack
        self._pools = _pools(file) if file else {}

    def of(self, urn: str) -> dict[str, Any]:
        """Return the physical location of a resource: of its pool if it belongs to exactly one."""
        if pool := self._pool(urn):
            return {"artifactLocation": {"uri": quote(pool.file)}, "region": {"startLine": pool.line}}
        return {"artifactLocation": {"uri": self._uri}}

    def _pool(self, urn: str) -> Origin | None:
        name = type_and_name(urn)[1]
        if not any(part in urn for part in _NODE_GROUP):
            return None
        group = name.partition("/")[0].removeprefix(f"{self._stack}-")
        fitting = [pool for pool in self._pools if f"{group}-".startswith(f"{pool}-")]
        return self._pools[max(fitting, key=len)] if fitting else None


def _pools(file: Path) -> dict[str, Origin]:
    try:
        origins = stacks.read(file).origins
    except UserError:
        return {}
    return {str(path[-1]): origin for path, origin in origins.items() if path[:-1] == ("pools",)}


def _rule(finding: Finding) -> dict[str, Any]:
    """Return the description of a rule, including rules that only the change or the base branch has."""
    rule = _RULES.get(finding.rule)
    where = f" See {finding.reference}." if finding.reference else ""
    described = {
        "id": printable(finding.rule),
        "help": _text(f"{finding.fix or (rule.fix if rule else 'No fix is known.')}{where}"),
    }
    if not rule:
        return described
    return described | {
        "name": rule.name,
        "shortDescription": _text(rule.title),
        "fullDescription": _text(rule.why),
        "properties": {"tags": [rule.pack.value, rule.severity.value]},
    }


def _result(stack: StackReport, finding: Finding, place: _Place) -> dict[str, Any]:
    name = type_and_name(finding.urn)[1] or "the stack"
    result = {
        "ruleId": printable(finding.rule),
        "level": _LEVELS[finding.standing],
        "message": _text(f"{name} of {stack.stack}, {STANDINGS[finding.standing]}: {finding.message}"),
        "locations": [
            {
                "physicalLocation": place.of(finding.urn),
                "logicalLocations": [{"fullyQualifiedName": printable(finding.urn or stack.stack, _TEXT_MAX)}],
            }
        ],
        # Includes the resource: several share a pool's line, and code scanning merges equal fingerprints.
        "partialFingerprints": {"primaryLocationLineHash": _fingerprint(stack.stack, finding.rule, finding.urn)},
    }
    if status := _SUPPRESSIONS.get(finding.standing):
        result["suppressions"] = [{"kind": "external", "status": status, "justification": _shown(finding.waiver)}]
    return result


def _text(text: str) -> dict[str, str]:
    return {"text": _shown(text)}


def _shown(text: str) -> str:
    """Return SARIF plain text; escapes its link and placeholder syntax."""
    shown = printable(" ".join(text.split()), _TEXT_MAX)
    return shown.replace("](", "] (").replace("{", "{{").replace("}", "}}")


def _fingerprint(*parts: str) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
