"""Claims from this package's own evaluations: the checks of ``verify`` and the rules."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from components.contract.digests import digest_of
from components.contract.environments import ClusterKind, Environment
from policies.diagnostics import ABOUT_WAIVERS, Said
from policies.registry import RULES
from policies.rule import Level, Rule, WholeStack
from workbench.passport.model import Claim, Covers, Evidence, Result
from workbench.report.causes import Cause
from workbench.report.model import FindingStatus
from workbench.verification.deviation import Outcome, Verification

if TYPE_CHECKING:  # it loads Pulumi's SDK, which most commands do without
    from workbench.engine.check import Checked

CONTRACT: Final = "contract"
RULE: Final = "rule"

_OF_A_KIND: Final = {"HE": ClusterKind.EKS, "HA": ClusterKind.AKS}
"""Beginnings of the ids of rules that are about one kind of cluster."""

_SHOWN: Final = 5
"""Findings that a claim names; the rest are counted."""

SUBJECTS: Final[Mapping[str, str]] = {
    "objects": "Every object of the last `up` exists with its declared fields, except what other checks report",
    "node-lifecycle": "Every node has the lifecycle label of its pool",
    "node-labels": "Every node has the labels of its pool",
    "node-taints": "Every node has the taints of its pool",
    "node-ready": "Every node of a pool is ready",
    "node-count": "Every group has a number of nodes within its bounds",
    "initial-group": "The initial group has its nodes, all on demand",
    "stray-nodes": "Every node belongs to a pool",
    "priority-classes": "User priority classes exist, never preempt and lie in order",
    "global-default-class": "No priority class is the default",
    "default-storage-class": "One StorageClass is the default",
    "gpu-plugin": "GPU nodes offer their GPUs",
    "autoscaler": "The autoscaler runs and reports",
    "autoscaler-groups": "The autoscaler knows every elastic group with its bounds",
    "admission-bound": "Every admission policy is bound, and nothing narrows it",
    "namespace-marks": "User work is in marked namespaces only",
    "network-isolation": "User namespaces deny network traffic by default",
    "mlrun-settings": "MLRun's API has the settings of the stack",
    "mlrun-keys": "No setting of MLRun is misspelt",
    "mlrun-restart": "MLRun's API started after its settings last changed",
    "nuclio-settings": "Nuclio has the settings of the stack",
}
"""What each check of ``verify`` claims."""


def contract_claims(verification: Verification, taken: datetime) -> Iterator[Claim]:
    """Yield a claim for each check of ``verify``.

    Parameters
    ----------
    verification
        Its result.
    taken
        When the cluster was read.
    """
    for found in verification.as_json()["checks"]:
        outcome = verification.outcomes[found["id"]]
        evidence = Evidence(source="igz-clusters verify", digest=digest_of(found), at=taken)
        result = Result.FAILED if outcome.deviations else Result.NOT_VERIFIED if outcome.absent else Result.PASSED
        yield Claim(
            id=f"{CONTRACT}/{found['id']}",
            subject=SUBJECTS[found["id"]],
            result=result,
            covers=Covers.WHOLE,
            detail=_outcome(outcome),
            rests_on=(),
            evidence=(evidence,),
        )


def _outcome(outcome: Outcome) -> str:
    if outcome.deviations:
        return _cut([f"{each.place} {each.problem}" for each in outcome.deviations])
    return outcome.absent or outcome.looked_at


def rule_claims(checked: "Checked", kind: ClusterKind, environment: Environment, at: datetime) -> Iterator[Claim]:
    """Yield a claim for each rule.

    Parameters
    ----------
    checked
        Result of ``check``.
    kind, environment
        Of the stack.
    at
        When it was checked.
    """
    for rule in RULES:
        causes = [each for each in checked.causes if _is_about(rule, each)]
        found = {"rule": rule.id, "judged": rule.id in checked.judged, "findings": [_found(each) for each in causes]}
        evidence = Evidence(source="igz-clusters check", digest=digest_of(found), at=at)
        result, detail = _judged(rule, causes, checked, kind, environment)
        yield Claim(
            id=f"{RULE}/{rule.id}",
            subject=rule.title,
            result=result,
            covers=Covers.WHOLE,
            detail=detail,
            rests_on=(),
            evidence=(evidence,),
        )


def _is_about(rule: Rule[Any], cause: Cause) -> bool:
    found = cause.finding
    return found.rule in (rule.id, rule.name) and found.reference != ABOUT_WAIVERS


def _found(cause: Cause) -> dict[str, Any]:
    found = cause.finding
    return {"status": found.standing.value, "message": found.message, "waiver": found.waiver, "at": list(cause.urns)}


def _judged(
    rule: Rule[Any], causes: list[Cause], checked: "Checked", kind: ClusterKind, environment: Environment
) -> tuple[Result, str]:
    """Return the result of a rule, and its explanation."""
    if (of := _OF_A_KIND.get(rule.id[:2], kind)) is not kind:
        return Result.NOT_VERIFIED, f"The rule is about clusters of kind {of}."
    violated = [each for each in causes if not _is_unjudged(each)]
    if violated:
        return Result.FAILED, _cut([_text(each) for each in violated])
    if causes:
        return Result.NOT_VERIFIED, _cut([_text(each) for each in causes])
    if rule.level[environment] is Level.OFF:
        return Result.NOT_VERIFIED, f"The rule is off in environment {environment}."
    if rule.id not in checked.judged:
        return Result.NOT_VERIFIED, "The stack declares nothing that the rule concerns."
    scope = rule.applies_to
    return Result.PASSED, "the whole stack" if isinstance(scope, WholeStack) else scope.noun


def _is_unjudged(cause: Cause) -> bool:
    """Return whether a rule gave no verdict; outside of CI it reports that as advice."""
    found = cause.finding
    return found.standing is FindingStatus.UNJUDGED or Said(found.rule, found.message).is_unjudged


def _text(cause: Cause) -> str:
    found = cause.finding
    waiver = f" {found.waiver}" if found.waiver else ""
    return f"{found.standing}{waiver}: {found.message}"


def _cut(lines: list[str]) -> str:
    rest = len(lines) - _SHOWN
    return "; ".join(lines[:_SHOWN]) + (f"; and {rest} more" if rest > 0 else "")
