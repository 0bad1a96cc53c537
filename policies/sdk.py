"""Adapter for Pulumi's policy SDK: converts its messages to plain values for the rules.

The SDK's servicer offers the policies and receives their configuration. The rules are evaluated here instead: the SDK
decodes a resource again for every policy and assigns one level to all messages of a policy, while a rule's level
depends on the environment and on its findings.
"""

import gc
import io
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from functools import cache
from typing import Any, Final, TypeAlias

import pulumi
import pulumi_policy as sdk
from google.protobuf import json_format
from pulumi.runtime.proto import analyzer_pb2 as proto
from pulumi_policy import policy as sdk_internals
from typing_extensions import override

from components.contract.component_package import CLUSTER_TYPE
from components.contract.engine_marks import with_integers
from components.contract.environments import Environment
from components.contract.policy_choices import component_choices
from components.stack_files.settings_of_the_run import STACK_KEY, stack_choices
from policies.diagnostics import ALL_PACKS, REFERENCE, crash, doubt, notice, pack_name, said_by, violation, waived
from policies.judge import Verdict, concerns, judge_resource, judge_stack
from policies.registry import RULES
from policies.remediation import Draft
from policies.resource import Resource
from policies.rule import STRICTNESS, Context, Level, Pack, Rule, WholeStack
from policies.settings import context
from policies.unknown_policy import unknown_fails
from policies.values import NotJudgeableError
from policies.waivers import Waivers
from policies.watchdog import time_limit
from policies.wire import LEVELS, diagnostic, is_mark, resource_of

_CONFIG: Final = sdk.PolicyConfigSchema(
    properties={
        "environment": {
            "type": "string",
            "enum": [environment.value for environment in Environment],
            "description": "Check as this environment, regardless of the stack's own.",
        },
        "waivers": {
            "type": "array",
            "items": {"type": "object"},
            "description": "Accepted violations of this rule: rows of policies/overrides.yaml.",
        },
    }
)


Remedy: TypeAlias = Callable[[Draft, Context], None]


def serve(*packs: Pack) -> None:
    """Serve packs to the engine that started this process; several packs are served as one, under a common name.

    Never returns.
    """
    # The engine waits for the port on the first line. The SDK (1.21.0) writes it without flushing, which reaches the
    # engine only where the shell happens to set PYTHONUNBUFFERED; elsewhere both wait for ever.
    sys.stdout = io.TextIOWrapper(io.FileIO(sys.stdout.fileno(), "w", closefd=False), write_through=True)
    sdk_internals._PolicyAnalyzerServicer = Servicer  # type: ignore[misc, assignment]  # noqa: SLF001
    gc.freeze()  # what is loaded by now is never collected
    gc.enable()
    name = pack_name(packs[0]) if len(packs) == 1 else ALL_PACKS
    sdk.PolicyPack(name, policies(rule for rule in RULES if rule.pack in packs))


def policies(rules: Iterable[Rule[Any]]) -> list[sdk.Policy]:
    """Return one SDK policy per rule."""
    return [_policy(rule) for rule in rules]


class Servicer(sdk_internals._PolicyAnalyzerServicer):  # noqa: SLF001 no public name
    """The SDK's servicer with its own evaluation, which decodes each resource once for all rules.

    It also receives the stack's configuration, which pulumi-policy 1.21.0 drops: since CLI 3.221 the engine starts
    packs without ``PULUMI_CONFIG`` and sends the configuration in a separate call.
    """

    def __init__(self, name: str, version: str, policies: list[sdk.Policy], *rest: Any) -> None:
        super().__init__(name, version, policies, *rest)
        self._version = version
        self._rules: list[Rule[Any]] = [_RULES[policy] for policy in policies]
        self._seen: dict[str, Resource] = {}
        self._configured: dict[str, Level] = {}
        self._settings: dict[str, Mapping[str, Any]] = {}
        self._tags: Mapping[str, str] = {}
        self._remedied: set[str] = set()
        self._waivers = Waivers()
        self._choices: Mapping[str, Any] = stack_choices() or {}
        self._own: Mapping[str, Any] | None = None
        """Settings of the stack file, empty if they cannot be read; None if it has none."""
        self._contexts: dict[str | None, Context] = {}
        self._levels: dict[Rule[Any], Level] = {}
        self.judged: set[str] = set()
        """Ids of the rules that have applied to something so far."""

    @override
    def Configure(self, request: Any, _context: Any) -> Any:
        names = {number: level for level, number in LEVELS.items()} | {proto.REMEDIATE: Level.MANDATORY}
        self._configured = {name: names[entry.enforcementLevel] for name, entry in request.policyConfig.items()}
        self._settings = {
            name: json_format.MessageToDict(entry.properties)
            for name, entry in request.policyConfig.items()
            if entry.properties.fields
        }
        self._remedied = {
            name for name, entry in request.policyConfig.items() if entry.enforcementLevel == proto.REMEDIATE
        }
        self._levels.clear()
        self._waivers = Waivers()
        for rule in self._rules:
            rows = self._settings.get(rule.name, {}).get("waivers", [])
            self._waivers.add(rule.id, rows if isinstance(rows, list) else [rows])
        return super().Configure(request, _context)  # type: ignore[no-untyped-call]

    @override
    def ConfigureStack(self, request: Any, _context: Any) -> Any:
        # Only the key that rules read, and always, so that nothing is left of an earlier stack.
        pulumi.runtime.set_config(STACK_KEY, request.config.get(STACK_KEY))
        self._tags = dict(request.tags)
        self._own = stack_choices()
        self._choose(self._own or {})
        return super().ConfigureStack(request, _context)

    def _choose(self, choices: Mapping[str, Any]) -> None:
        self._choices = choices
        self._contexts.clear()
        self._levels.clear()

    @override
    def Analyze(self, request: Any, _context: Any) -> Any:
        response = proto.AnalyzeResponse()
        if request.type == CLUSTER_TYPE:  # a program in another language: its settings are here, before its resources
            inputs = with_integers(json_format.MessageToDict(request.properties))
            self._choose(component_choices(inputs, self._own))
        with time_limit(f"{request.type} '{request.name}'"):
            resource = self._seen[request.urn] = resource_of(request)
            for rule in self._concerned(request.type):
                if known := self._context(rule, response):
                    verdict = judge_resource(rule, resource, known)
                    response.diagnostics.extend(self._report(rule, verdict, [resource]))
        return response

    @override
    def AnalyzeStack(self, request: Any, _context: Any) -> Any:
        response = proto.AnalyzeResponse()
        # The engine also sends resources that it will delete, if it refreshed them first. These are left out.
        wanted = [given for given in request.resources if given.urn in self._seen or not self._seen]
        with time_limit("the whole stack"):
            # The engine shows outputs here. In the first preview of a cloud cluster its objects have none, because the
            # Kubernetes provider cannot be configured yet; what is planned for them was shown to the resource rules.
            stack = [resource_of(given, self._seen.get(given.urn)) for given in wanted]
            stack.sort(key=lambda resource: resource.urn)
            for rule in self._rules:
                if isinstance(rule.applies_to, WholeStack) and (known := self._context(rule, response)):
                    response.diagnostics.extend(self._report(rule, judge_stack(rule, stack, known), stack))
        self._account(response)
        return response

    @override
    def Remediate(self, request: Any, _context: Any) -> Any:
        response = proto.RemediateResponse()
        inputs = json_format.MessageToDict(request.properties)
        with time_limit(f"{request.type} '{request.name}'"):
            for rule in self._concerned(request.type) if self._remedied else ():
                known = self._known(rule)
                if not rule.remedy or rule.name not in self._remedied or self._level(rule) is Level.OFF:
                    continue
                is_wrong = any(not f.advice for f in judge_resource(rule, resource_of(request), known).findings)
                if is_wrong and not self._waivers.find(rule.id, request.type, request.name):
                    self._mend(rule, rule.remedy, Draft(inputs, is_mark, request.type), known, response)
                    request.properties.Clear()
                    request.properties.update(inputs)
        return response

    def _mend(self, rule: Rule[Any], remedy: Remedy, draft: Draft, known: Context, response: Any) -> None:
        inputs, before = draft.content, deepcopy(draft.content)
        answer = proto.Remediation(
            policyName=rule.name,
            policyPackName=pack_name(rule.pack),
            policyPackVersion=self._version,
            description=rule.title,
        )
        try:
            remedy(draft, known)
        except Exception as problem:  # noqa: BLE001 one that leaves the pack fails every deployment
            inputs.clear()
            inputs.update(before)
            why = str(problem) if isinstance(problem, NotJudgeableError) else f"it crashed: {type(problem).__name__}"
            answer.diagnostic = said_by(rule, f"could not be fixed automatically: {why}")
        if inputs != before:
            answer.properties.update(inputs)
        if answer.diagnostic or inputs != before:
            response.remediations.append(answer)

    def _account(self, response: Any) -> None:
        """Report what weakened the rules in this run: waivers that do not apply, and lowered enforcement levels."""
        for rule in self._rules:
            for found in self._waivers.notices(rule.id):
                level = Level.MANDATORY if found.fails else Level.ADVISORY
                response.diagnostics.append(self._diagnostic(rule, level, notice(found.message), ""))
            own, level = self._own_level(rule), self._level(rule)
            if STRICTNESS.index(level) < STRICTNESS.index(own):
                text = f"is {level} by configuration; its own level is {own}."
                response.diagnostics.append(self._diagnostic(rule, Level.ADVISORY, text, ""))

    def _concerned(self, token: str) -> list[Rule[Any]]:
        return [rule for rule in self._rules if concerns(rule, token)]

    def _context(self, rule: Rule[Any], response: Any) -> Context | None:
        """Return what the rule may know about the stack; None, with a note in the response, if it does not apply."""
        known = self._known(rule)
        if self._level(rule) is not Level.OFF:
            return known
        reason = f"{rule.id} does not apply to a {known.environment} cluster"
        response.not_applicable.append(proto.PolicyNotApplicable(policy_name=rule.name, reason=reason))
        return None

    def _diagnostic(self, rule: Rule[Any], level: Level, text: str, urn: str) -> Any:
        made = diagnostic(rule, level, said_by(rule, text), urn)
        made.policyPackName, made.policyPackVersion = pack_name(rule.pack), self._version
        return made

    def _known(self, rule: Rule[Any]) -> Context:
        return self._context_as(self._settings.get(rule.name, {}).get("environment"))

    def _context_as(self, wanted: str | None) -> Context:
        if wanted not in self._contexts:
            self._contexts[wanted] = context(wanted, self._choices, self._tags)
        return self._contexts[wanted]

    def _own_level(self, rule: Rule[Any]) -> Level:
        """Return the level for the stack's own environment, even if the rule is configured to assume another."""
        is_named = self._choices.get("environment") or self._tags.get("environment")
        return rule.level[(self._context_as(None) if is_named else self._known(rule)).environment]

    def _level(self, rule: Rule[Any]) -> Level:
        if rule not in self._levels:
            self._levels[rule] = self._decided_level(rule)
        return self._levels[rule]

    def _decided_level(self, rule: Rule[Any]) -> Level:
        # The engine always sends a level: the declared one, unless a configuration file says otherwise.
        own, declared = rule.level[self._known(rule).environment], rule.declared_level
        configured = self._configured.get(rule.name, declared)
        if STRICTNESS.index(configured) < STRICTNESS.index(declared):
            return min(own, configured, key=STRICTNESS.index)
        return own if configured is declared else configured

    def _report(self, rule: Rule[Any], verdict: Verdict, judged: Sequence[Resource]) -> Iterator[Any]:
        if verdict.judged:
            self.judged.add(rule.id)
        level, advice = self._level(rule), Level.ADVISORY
        secrets = [secret for resource in judged for secret in resource.secrets]
        for finding in verdict.findings:
            text = violation(rule, _without(secrets, finding.message))
            yield self._unless_waived(rule, advice if finding.advice else level, text, finding.urn, judged)
        for place in verdict.crashed:
            # A crash cannot be waived.
            yield self._diagnostic(rule, level, crash(rule, place), "")
        if verdict.unjudged:
            text = doubt(verdict.unjudged)
            yield self._unless_waived(rule, level if unknown_fails() else advice, text, "", judged)

    def _unless_waived(self, rule: Rule[Any], level: Level, text: str, urn: str, judged: Sequence[Resource]) -> Any:
        """Return the diagnostic; as advice and preceded by the waiver, if a waiver covers the resource at fault."""
        if isinstance(rule.applies_to, WholeStack) and not urn:
            waiver = self._waivers.find_for_stack(rule.id)
        else:
            at_fault = [resource for resource in judged if not urn or resource.urn == urn]
            found = (self._waivers.find(rule.id, resource.type, resource.name) for resource in at_fault)
            waiver = next(filter(None, found), None)
        if waiver:
            level, text = Level.ADVISORY, waived(waiver, text)
        return self._diagnostic(rule, level, text, urn)


def _without(secrets: Iterable[str], text: str) -> str:
    for secret in secrets:
        text = text.replace(secret, "[secret]")
    return text


@cache
def _policy(rule: Rule[Any]) -> sdk.Policy:
    description: dict[str, Any] = {
        "name": rule.name,
        "description": rule.title,
        "enforcement_level": sdk.EnforcementLevel(rule.declared_level.value),
        "config_schema": _CONFIG,
        "severity": sdk.Severity(rule.severity.value),
        "remediation_steps": rule.fix,
        "url": f"{REFERENCE}#{rule.anchor}",
        "validate": _judged_by_the_servicer,
    }
    whole_stack = isinstance(rule.applies_to, WholeStack)
    policy = sdk.StackValidationPolicy(**description) if whole_stack else sdk.ResourceValidationPolicy(**description)
    _RULES[policy] = rule
    return policy


_RULES: Final[dict[sdk.Policy, Rule[Any]]] = {}
"""The rule of each policy, by policy; the SDK's classes cannot store it."""


def _judged_by_the_servicer(*_: object) -> None:
    """Satisfy the SDK, which requires a function; ``Servicer`` never calls it."""
    raise AssertionError("the servicer judges")
