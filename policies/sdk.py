"""The border to Pulumi's policy SDK: its types come in here, plain ones go on to the rules.

A rule may need two policies on the wire, because the engine knows one level for each policy: the main one, and one
with ``-advice`` for what is advisory in an environment where the rest is mandatory, or is advice by nature.
"""

import io
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

import pulumi
import pulumi_policy as sdk
from pulumi_policy import policy as sdk_internals
from pulumi_policy.proxy import UnknownValueError
from typing_extensions import override

from components.contract.environments import Environment
from policies.judge import Verdict, judge_resource, judge_stack
from policies.registry import rules_of
from policies.resource import Resource
from policies.rule import Context, EachOf, Level, Pack, Rule, WholeStack
from policies.settings import STACK_KEY, context, unknown_fails
from policies.values import UNKNOWN, Value

REFERENCE: Final = "docs/policies.md"
"""Reference page of all rules, an anchor each."""

_CONFIG: Final = sdk.PolicyConfigSchema(
    properties={
        "environment": {
            "type": "string",
            "enum": [environment.value for environment in Environment],
            "description": "Judge as this environment, whatever the stack says.",
        }
    }
)


class Servicer(sdk_internals._PolicyAnalyzerServicer):  # noqa: SLF001 no public name
    """The SDK's servicer, which also passes on the stack's configuration, and inputs to stack rules.

    Since CLI 3.221 the engine starts packs through the language host, without ``PULUMI_CONFIG``, and sends the
    configuration in a call of its own; pulumi-policy 1.21.0 drops it, so ``pulumi.Config`` would be empty in every
    rule.

    To stack rules the engine shows outputs. In the first preview of a cloud cluster its objects have none, because
    the Kubernetes provider cannot be configured yet; what is planned for them was shown to the resource rules.
    """

    @cached_property
    def _inputs(self) -> dict[str, Any]:
        return {}

    @override
    def Analyze(self, request: Any, _context: Any) -> Any:
        self._inputs[request.urn] = request.properties
        return super().Analyze(request, _context)  # type: ignore[no-untyped-call]

    @override
    def AnalyzeStack(self, request: Any, _context: Any) -> Any:
        for resource in request.resources:
            resource.properties.CopyFrom(self._inputs.get(resource.urn, resource.properties))
        return super().AnalyzeStack(request, _context)  # type: ignore[no-untyped-call]

    @override
    def ConfigureStack(self, request: Any, _context: Any) -> Any:
        # Only the key that rules read, and always, so that nothing is left of an earlier stack.
        pulumi.runtime.set_config(STACK_KEY, request.config.get(STACK_KEY))
        return super().ConfigureStack(request, _context)


def serve(pack: Pack) -> None:
    """Serve a pack to the engine that started this process. Never returns."""
    # The engine waits for the port on the first line. The SDK (1.21.0) writes it without flushing, which reaches the
    # engine only where the shell happens to set PYTHONUNBUFFERED; elsewhere both wait for ever.
    sys.stdout = io.TextIOWrapper(io.FileIO(sys.stdout.fileno(), "w", closefd=False), write_through=True)
    sdk_internals._PolicyAnalyzerServicer = Servicer  # type: ignore[misc]  # noqa: SLF001
    sdk.PolicyPack(f"igz-clusters-{pack.replace('_', '-')}", policies(rules_of(pack)))


class CouldNotJudge(UnknownValueError):  # noqa: N818 the SDK's word for it is not an error either
    """Ends a policy with the SDK's own advisory note instead of a violation, in our words."""

    def __init__(self, message: str) -> None:
        Exception.__init__(self, message)
        self.message = message


def policies(rules: Iterable[Rule[Any]]) -> list[sdk.Policy]:
    """Return the policies through which the engine meets ``rules``."""
    return [_policy(rule, level) for rule in rules for level in wire_levels(rule)]


def wire_levels(rule: Rule[Any]) -> list[Level]:
    """Return the levels at which ``rule`` can speak, the highest first; one policy each."""
    spoken = {*rule.level.values(), *((Level.ADVISORY,) if rule.advises else ())}
    return [level for level in (Level.MANDATORY, Level.ADVISORY) if level in spoken]


def wire_name(rule: Rule[Any], level: Level) -> str:
    """Return the name of the policy that carries ``rule`` at ``level``."""
    return rule.name if level is wire_levels(rule)[0] else f"{rule.name}-advice"


def to_plain(value: Any) -> Any:
    """Return the SDK's proxies as plain maps and lists, with ``UNKNOWN`` where reading would raise."""
    if isinstance(value, Mapping):
        return {str(key): _read(value, key) for key in value}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [_read(value, index) for index in range(len(value))]
    return value


def _read(container: Any, key: Any) -> Any:
    try:
        return to_plain(container[key])
    except UnknownValueError:
        return UNKNOWN


def _resource(given: sdk.ResourceValidationArgs | sdk.PolicyResource) -> Resource:
    return Resource(
        type=given.resource_type,
        name=given.name,
        urn=given.urn,
        props=Value(to_plain(given.props)),
        protect=given.opts.protect,
        ignore_changes=tuple(given.opts.ignore_changes),
    )


def _policy(rule: Rule[Any], level: Level) -> sdk.Policy:
    description: dict[str, Any] = {
        "name": wire_name(rule, level),
        "description": rule.title,
        "enforcement_level": sdk.EnforcementLevel(level.value),
        "config_schema": _CONFIG,
        "severity": sdk.Severity(rule.severity.value),
        "remediation_steps": rule.fix,
        "url": f"{REFERENCE}#{rule.anchor}",
    }
    match rule.applies_to:
        case WholeStack():
            return sdk.StackValidationPolicy(validate=_stack_validation(rule, level), **description)
        case EachOf(types=types):
            return sdk.ResourceValidationPolicy(validate=_resource_validation(rule, level, types), **description)


def _resource_validation(rule: Rule[Any], level: Level, types: re.Pattern[str]) -> sdk.ResourceValidation:
    def validate(args: sdk.ResourceValidationArgs, report: sdk.ReportViolation) -> None:
        # Most resources are of no concern to most rules: look at the type before anything that costs.
        if types.fullmatch(args.resource_type):
            known = _context(rule, level, args)
            _report(rule, level, known, judge_resource(rule, _resource(args), known), report)

    return validate


def _stack_validation(rule: Rule[Any], level: Level) -> sdk.StackValidation:
    def validate(args: sdk.StackValidationArgs, report: sdk.ReportViolation) -> None:
        known = _context(rule, level, args)
        stack = sorted((_resource(given) for given in args.resources), key=lambda resource: resource.urn)
        _report(rule, level, known, judge_stack(rule, stack, known), report)

    return validate


def _context(rule: Rule[Any], level: Level, args: sdk.ResourceValidationArgs | sdk.StackValidationArgs) -> Context:
    """Return what the rule may know; end the policy where it has nothing to say."""
    known = context(args.get_config(), args.stack_tags)
    own = rule.level[known.environment]
    if own is Level.OFF:
        args.not_applicable(f"{rule.id} does not apply to a {known.environment} cluster")
    if own is not level and not rule.advises:
        args.not_applicable(f"{rule.id} is {own} in a {known.environment} cluster: see {wire_name(rule, own)}")
    return known


def _report(rule: Rule[Any], level: Level, known: Context, verdict: Verdict, report: sdk.ReportViolation) -> None:
    own = rule.level[known.environment]
    for finding in verdict.findings:
        if level is (Level.ADVISORY if finding.advice and rule.advises else own):
            report(f"[{rule.id}] {finding.message} Fix: {rule.fix} See {REFERENCE}#{rule.anchor}", finding.urn or None)
    if verdict.unjudged and level is own:
        _report_doubt(rule, verdict.unjudged, report)


def _report_doubt(rule: Rule[Any], reasons: list[str], report: sdk.ReportViolation) -> None:
    message = f"[{rule.id}] could not be judged: {'; '.join(reasons)}. See {REFERENCE}#could-not-be-judged"
    if unknown_fails():
        # At the policy's own level: only a mandatory one fails the run.
        report(message, None)
    else:
        raise CouldNotJudge(message)
