"""Runs one rule and sorts its results into violations, advice and unjudged items."""

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from policies.patches import LeftOut, as_object, kind_of, with_less
from policies.resource import Resource, Stack
from policies.rule import Context, EachOf, Finding, Rule
from policies.values import Filling, NotJudgeableError, absent_as


@dataclass(slots=True)
class Verdict:
    """Results of a rule for one resource or for the stack."""

    findings: list[Finding] = field(default_factory=list)
    unjudged: list[str] = field(default_factory=list)
    """Reasons why items could not be judged, one entry each."""
    crashed: list[str] = field(default_factory=list)
    """Where the rule crashed."""
    judged: int = 0
    """How many items the rule concerns."""


@cache
def concerns(rule: Rule[Any], token: str) -> bool:
    """Return whether a rule reads resources of a type; for a type of patch, also the objects that it changes."""
    scope = rule.applies_to
    return isinstance(scope, EachOf) and any(scope.types.fullmatch(each) for each in (token, kind_of(token)))


def judge_resource(rule: Rule[Any], resource: Resource, context: Context) -> Verdict:
    """Return the results of ``rule`` for each item in ``resource``; never raises."""
    scope = rule.applies_to
    if not isinstance(scope, EachOf) or not concerns(rule, resource.type):
        return Verdict()
    if scope.types.fullmatch(resource.type):
        return _each(rule, scope, resource, context)
    return _patch(rule, scope, as_object(resource), context)


def _patch(rule: Rule[Any], scope: EachOf[Any], patch: Resource, context: Context) -> Verdict:
    left_out = LeftOut(patch)
    verdict = _each(rule, scope, patch, context, left_out.note)
    if not verdict.findings:
        return verdict
    all_found = verdict.findings
    without = [_each(rule, scope, less, context).findings for less in with_less(patch)]
    verdict.findings = [found for found in all_found if not all(found in others for others in without)]
    for filling in left_out.fillings():
        if not verdict.findings:
            break
        other = _each(rule, scope, patch, context, filling)
        is_excused = len(other.findings) < len(all_found) and other.unjudged == verdict.unjudged and not other.crashed
        if is_excused:
            verdict.findings = [found for found in verdict.findings if found in other.findings]
    return verdict


def _each(
    rule: Rule[Any], scope: EachOf[Any], resource: Resource, context: Context, filling: Filling | None = None
) -> Verdict:
    verdict = Verdict()
    with _recorded(verdict), absent_as(filling):
        for thing in scope.find(resource):
            # The others are judged even if one cannot be.
            with _recorded(verdict):
                with absent_as(None):
                    is_concerned = scope.concerns(thing, context)
                if is_concerned:
                    verdict.judged += 1
                    _collect(rule, thing, context, verdict)
    return verdict


def judge_stack(rule: Rule[Any], stack: Stack, context: Context) -> Verdict:
    """Return the results of ``rule`` for the whole stack; never raises."""
    verdict = Verdict(judged=1)
    with _recorded(verdict):
        _collect(rule, stack, context, verdict)
    return verdict


def _collect(rule: Rule[Any], subject: object, context: Context, verdict: Verdict) -> None:
    # One by one, so that findings before an unknown value are kept.
    for finding in rule.check(subject, context):
        verdict.findings.append(finding)


@contextmanager
def _recorded(verdict: Verdict) -> Iterator[None]:
    try:
        yield
    except NotJudgeableError as problem:
        verdict.unjudged.append(str(problem))
    except BaseException as error:  # noqa: BLE001 one that leaves the pack fails or hangs every deployment
        # Not the error's text: it may quote a secret.
        place = traceback.extract_tb(error.__traceback__)[-1]
        verdict.crashed.append(f"{type(error).__name__} at {Path(place.filename).name}:{place.lineno}")
