"""The border to Pulumi's policy SDK: its messages come in here, plain values go on to the rules.

The SDK's servicer offers the policies and takes their configuration. Judging is done here instead: the SDK decodes a
resource anew for every policy, and gives all that a policy says one level, while a rule's level depends on the
environment and on what it found.
"""

import io
import re
import sys
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, Final

import pulumi
import pulumi_policy as sdk
from google.protobuf import json_format
from pulumi.runtime.proto import analyzer_pb2 as proto
from pulumi_policy import policy as sdk_internals
from pulumi_policy import proxy
from pulumi_policy.deserialize import deserialize_properties
from typing_extensions import override

from components.contract.environments import Environment
from policies.judge import Verdict, judge_resource, judge_stack
from policies.registry import rules_of
from policies.resource import Resource
from policies.rule import Context, EachOf, Level, Pack, Rule, Severity, WholeStack
from policies.settings import STACK_KEY, context, stack_choices, unknown_fails
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

_SENTINELS: Final = frozenset(text for name, text in vars(proxy).items() if re.fullmatch("UNKNOWN_[A-Z]+_VALUE", name))
"""What the engine sends in place of a value that a preview cannot know."""

_LEVELS: Final = {
    Level.OFF: proto.DISABLED,
    Level.ADVISORY: proto.ADVISORY,
    Level.MANDATORY: proto.MANDATORY,
}
_SEVERITIES: Final = {
    Severity.LOW: proto.POLICY_SEVERITY_LOW,
    Severity.MEDIUM: proto.POLICY_SEVERITY_MEDIUM,
    Severity.HIGH: proto.POLICY_SEVERITY_HIGH,
    Severity.CRITICAL: proto.POLICY_SEVERITY_CRITICAL,
}
_STRICTNESS: Final = [Level.OFF, Level.ADVISORY, Level.MANDATORY]


def serve(pack: Pack) -> None:
    """Serve a pack to the engine that started this process. Never returns."""
    # The engine waits for the port on the first line. The SDK (1.21.0) writes it without flushing, which reaches the
    # engine only where the shell happens to set PYTHONUNBUFFERED; elsewhere both wait for ever.
    sys.stdout = io.TextIOWrapper(io.FileIO(sys.stdout.fileno(), "w", closefd=False), write_through=True)
    sdk_internals._PolicyAnalyzerServicer = Servicer  # type: ignore[misc, assignment]  # noqa: SLF001
    sdk.PolicyPack(f"igz-clusters-{pack.replace('_', '-')}", policies(rules_of(pack)))


def policies(rules: Iterable[Rule[Any]]) -> list[sdk.Policy]:
    """Return the policies through which the engine meets ``rules``, one each."""
    return [_policy(rule) for rule in rules]


def declared_level(rule: Rule[Any]) -> Level:
    """Return the level that the engine is told: the strictest of all environments."""
    return max(rule.level.values(), key=_STRICTNESS.index)


class Servicer(sdk_internals._PolicyAnalyzerServicer):  # noqa: SLF001 no public name
    """The SDK's servicer with judging of its own, one decoding for all rules.

    It also takes the stack's configuration, which pulumi-policy 1.21.0 drops: since CLI 3.221 the engine starts packs
    without ``PULUMI_CONFIG`` and sends the configuration in a call of its own.
    """

    def __init__(self, name: str, version: str, policies: list[sdk.Policy], *rest: Any) -> None:
        super().__init__(name, version, policies, *rest)
        self._pack, self._version = name, version
        self._rules: list[Rule[Any]] = [_RULES[policy] for policy in policies]
        self._inputs: dict[str, Any] = {}
        self._rules_by_type: dict[str, list[Rule[Any]]] = {}
        self._configured: dict[str, Level] = {}
        self._settings: dict[str, Mapping[str, Any]] = {}
        self._tags: Mapping[str, str] = {}

    @override
    def Configure(self, request: Any, _context: Any) -> Any:
        names = {number: level for level, number in _LEVELS.items()} | {proto.REMEDIATE: Level.MANDATORY}
        self._configured = {name: names[entry.enforcementLevel] for name, entry in request.policyConfig.items()}
        self._settings = {
            name: json_format.MessageToDict(entry.properties) for name, entry in request.policyConfig.items()
        }
        return super().Configure(request, _context)  # type: ignore[no-untyped-call]

    @override
    def ConfigureStack(self, request: Any, _context: Any) -> Any:
        # Only the key that rules read, and always, so that nothing is left of an earlier stack.
        pulumi.runtime.set_config(STACK_KEY, request.config.get(STACK_KEY))
        self._tags = dict(request.tags)
        self.__dict__.pop("_choices", None)
        return super().ConfigureStack(request, _context)

    @cached_property
    def _choices(self) -> Mapping[str, Any]:
        return stack_choices()

    @override
    def Analyze(self, request: Any, _context: Any) -> Any:
        self._inputs[request.urn] = request.properties
        response = proto.AnalyzeResponse()
        resource = _resource(request)
        for rule in self._concerned(request.type):
            if known := self._context(rule, response):
                self._report(rule, known, judge_resource(rule, resource, known), response)
        return response

    @override
    def AnalyzeStack(self, request: Any, _context: Any) -> Any:
        response = proto.AnalyzeResponse()
        for given in request.resources:
            # The engine shows outputs here. In the first preview of a cloud cluster its objects have none, because the
            # Kubernetes provider cannot be configured yet; what is planned for them was shown to the resource rules.
            given.properties.CopyFrom(self._inputs.get(given.urn, given.properties))
        stack = sorted((_resource(given) for given in request.resources), key=lambda resource: resource.urn)
        for rule in self._rules:
            if isinstance(rule.applies_to, WholeStack) and (known := self._context(rule, response)):
                self._report(rule, known, judge_stack(rule, stack, known), response)
        return response

    def _concerned(self, token: str) -> list[Rule[Any]]:
        if token not in self._rules_by_type:
            self._rules_by_type[token] = [
                rule
                for rule in self._rules
                if isinstance(rule.applies_to, EachOf) and rule.applies_to.types.fullmatch(token)
            ]
        return self._rules_by_type[token]

    def _context(self, rule: Rule[Any], response: Any) -> Context | None:
        """Return what the rule may know; None, and a note in the response, where it has nothing to say."""
        known = context(self._settings.get(rule.name, {}), self._choices, self._tags)
        if self._level(rule, known) is not Level.OFF:
            return known
        reason = f"{rule.id} does not apply to a {known.environment} cluster"
        response.not_applicable.append(proto.PolicyNotApplicable(policy_name=rule.name, reason=reason))
        return None

    def _level(self, rule: Rule[Any], known: Context) -> Level:
        # The engine always sends a level: the declared one, unless a configuration file says otherwise.
        own, declared = rule.level[known.environment], declared_level(rule)
        configured = self._configured.get(rule.name, declared)
        if _STRICTNESS.index(configured) < _STRICTNESS.index(declared):
            return min(own, configured, key=_STRICTNESS.index)
        return own if configured is declared else configured

    def _report(self, rule: Rule[Any], known: Context, verdict: Verdict, response: Any) -> None:
        level = self._level(rule, known)
        for finding in verdict.findings:
            text = f"[{rule.id}] {finding.message} Fix: {rule.fix} See {REFERENCE}#{rule.anchor}"
            self._say(rule, Level.ADVISORY if finding.advice else level, text, finding.urn, response)
        if verdict.unjudged:
            reasons = "; ".join(verdict.unjudged)
            text = f"[{rule.id}] could not be judged: {reasons}. See {REFERENCE}#could-not-be-judged"
            self._say(rule, level if unknown_fails() else Level.ADVISORY, text, "", response)

    def _say(self, rule: Rule[Any], level: Level, text: str, urn: str, response: Any) -> None:
        response.diagnostics.append(
            proto.AnalyzeDiagnostic(
                policyName=rule.name,
                policyPackName=self._pack,
                policyPackVersion=self._version,
                description=rule.title,
                message=f"{rule.title}\n{text}",
                urn=urn,
                enforcementLevel=_LEVELS[level],
                severity=_SEVERITIES[rule.severity],
            )
        )


def plain(value: Any) -> Any:
    """Return decoded properties with ``UNKNOWN`` in place of the engine's sentinels."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return UNKNOWN if isinstance(value, str) and value in _SENTINELS else value


def _resource(given: Any) -> Resource:
    """Return the resource of a request for one, or of an entry in a request for the whole stack."""
    return Resource(
        type=given.type,
        name=given.name,
        urn=given.urn,
        props=Value(plain(deserialize_properties(json_format.MessageToDict(given.properties)))),
        protect=given.options.protect,
        ignore_changes=tuple(given.options.ignoreChanges),
        parent=given.options.parent,
        depends_on={key: tuple(made.urns) for key, made in getattr(given, "propertyDependencies", {}).items()},
    )


def _policy(rule: Rule[Any]) -> sdk.Policy:
    description: dict[str, Any] = {
        "name": rule.name,
        "description": rule.title,
        "enforcement_level": sdk.EnforcementLevel(declared_level(rule).value),
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
"""The rule behind each policy; the SDK's classes have no room for it."""


def _judged_by_the_servicer(*_: object) -> None:
    """Stand in for the function that the SDK demands of a policy and that ``Servicer`` never calls."""
    raise AssertionError("the servicer judges")
