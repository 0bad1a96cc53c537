"""Checks resources through the SDK's servicer, with the engine's messages but without an engine."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from google.protobuf import struct_pb2
from pulumi.runtime.proto import analyzer_pb2 as proto
from pulumi_policy import EnforcementLevel
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE

from components.stack_files.settings_of_the_run import STACK_KEY
from policies.examples import UNKNOWN_TEXT, Example, Given
from policies.registry import RULES
from policies.rule import Rule
from policies.sdk import Servicer, policies
from policies.wire import LEVELS

_LEVEL: Final = "enforcementLevel"
"""Key of a policy's level in a configuration file."""

Resource = tuple[str, str, Any] | Given
"""Type token, logical name and properties of a resource, or a resource of an example, with options."""


@dataclass
class Report:
    """Messages of the pack, by rule id."""

    violated: list[str] = field(default_factory=list)
    """Mandatory violations, which fail the run."""
    advised: list[str] = field(default_factory=list)
    unjudged: list[str] = field(default_factory=list)
    """Notes from advisory rules that could not be judged."""
    not_applicable: list[str] = field(default_factory=list)
    """Names of policies that do not apply."""
    messages: list[str] = field(default_factory=list)
    policies: list[str] = field(default_factory=list)
    """Names of the policies with messages, in the order of the messages."""
    urns: list[str] = field(default_factory=list)

    def add(self, response: proto.AnalyzeResponse) -> "Report":
        """Add the content of a response, and return the report."""
        for diagnostic in response.diagnostics:
            rule_id = re.findall(r"\[([A-Z]{2}-\d\d)\]", diagnostic.message)[0]
            self._list_for(diagnostic).append(rule_id)
            self.messages.append(diagnostic.message)
            self.policies.append(diagnostic.policyName)
            self.urns.append(diagnostic.urn)
        self.not_applicable.extend(entry.policy_name for entry in response.not_applicable)
        return self

    def _list_for(self, diagnostic: proto.AnalyzeDiagnostic) -> list[str]:
        if diagnostic.enforcementLevel == proto.MANDATORY:
            return self.violated
        return self.unjudged if "could not be judged" in diagnostic.message else self.advised

    @property
    def outcome(self) -> dict[str, list[str]]:
        """Rule ids without repetition, in the form of an example's expectations."""
        lists = {"expect": self.violated, "advise": self.advised, "unjudged": self.unjudged}
        return {key: sorted(set(ids)) for key, ids in lists.items()}


class Wire:
    """A served pack in a configured stack."""

    def __init__(
        self,
        rules: Iterable[Rule[Any]] = RULES,
        *,
        stack: Mapping[str, Any] | str | None = None,
        tags: Mapping[str, str] | None = None,
        config: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        """Serve ``rules``; ``stack`` is the value of ``igz-clusters:stack``, ``config`` the configuration by policy."""
        served = tuple(rules)
        self.servicer = Servicer("test", "0", policies(served), EnforcementLevel.ADVISORY)
        text = stack if isinstance(stack, str) else json.dumps(stack)
        self.servicer.ConfigureStack(
            proto.AnalyzerStackConfigureRequest(tags=tags or {}, config={STACK_KEY: text} if stack else {}), None
        )
        # The engine always sends a level for every policy: the pack's own unless a file overrides it.
        levels = {rule.name: _entry(LEVELS[rule.declared_level], (config or {}).get(rule.name, {})) for rule in served}
        self.servicer.Configure(proto.ConfigureAnalyzerRequest(policyConfig=levels), None)

    def levels(self) -> dict[str, int]:
        """Return the level of every policy, as sent to the engine, by name."""
        info = self.servicer.GetAnalyzerInfo(None, None)  # type: ignore[no-untyped-call]
        return {policy.name: policy.enforcementLevel for policy in info.policies}

    def judge(self, kind: str, props: Any, name: str = "example", **options: Any) -> Report:
        """Send one resource through all resource rules."""
        return Report().add(self.servicer.Analyze(request(Given(kind, name, props, options)), None))

    def judge_stack(self, resources: Sequence[Resource]) -> Report:
        """Send each resource through the resource rules, then all of them through the stack rules."""
        report = Report()
        whole = stack_request(resources)
        for each in whole.resources:
            report.add(self.servicer.Analyze(_question(each), None))
        return report.add(self.servicer.AnalyzeStack(whole, None))

    def judge_outputs(self, resources: Sequence[Resource]) -> Report:
        """Send all resources through the stack rules alone, with their outputs."""
        return Report().add(self.servicer.AnalyzeStack(stack_request(resources), None))


def request(given: Given) -> proto.AnalyzeRequest:
    """Return the engine's request to check one resource."""
    return proto.AnalyzeRequest(**_message(given))


def _question(shown: proto.AnalyzerResource) -> proto.AnalyzeRequest:
    """Return the engine's request to check one resource of a stack."""
    return proto.AnalyzeRequest(
        type=shown.type, name=shown.name, urn=shown.urn, properties=shown.properties, options=shown.options
    )


def stack_request(resources: Iterable[Resource]) -> proto.AnalyzeStackRequest:
    """Return the engine's request to check a whole stack."""
    sent = [
        proto.AnalyzerResource(
            **_message(given),
            parent="urn:stack",
            propertyDependencies={
                key: proto.AnalyzerPropertyDependencies(urns=[_urn(*source) for source in sources])
                for key, sources in given.made_from.items()
            },
        )
        for given in map(_given, resources)
    ]
    return proto.AnalyzeStackRequest(resources=sent)


def _message(given: Given) -> dict[str, Any]:
    return {
        "type": given.type,
        "name": given.name,
        "urn": _urn(given.type, given.name),
        "properties": _struct(given.props),
        "options": proto.AnalyzerResourceOptions(**given.opts),
    }


def judge(
    example: Example, resources: Sequence[Resource] | None = None, *, rules: Iterable[Rule[Any]] = RULES
) -> Report:
    """Send an example, or a corrupted copy of its resources, through both packs, or through other ``rules``."""
    wire, sent = Wire(rules, stack=example.stack_config), example.resources if resources is None else resources
    if example.is_stack:
        return wire.judge_stack(sent)
    [given] = map(_given, sent)
    return wire.judge(given.type, given.props, given.name, **given.opts)


def _given(resource: Resource) -> Given:
    return resource if isinstance(resource, Given) else Given(*resource, opts={})


def _urn(kind: str, name: str) -> str:
    return f"urn:pulumi:test::igz-clusters::{kind}::{name}"


def _entry(declared: proto.EnforcementLevel.ValueType, entry: Mapping[str, Any]) -> proto.PolicyConfig:
    """Return a policy's configuration as the engine sends it, from an entry of a configuration file."""
    named, settings = entry.get(_LEVEL), {key: value for key, value in entry.items() if key != _LEVEL}
    level = proto.EnforcementLevel.Value(named.upper()) if named else declared
    return proto.PolicyConfig(enforcementLevel=level, properties=_struct(settings) if settings else None)


def _struct(props: Any) -> struct_pb2.Struct:
    struct = struct_pb2.Struct()
    struct.update(_with_sentinels(props))
    return struct


def _with_sentinels(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _with_sentinels(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_with_sentinels(item) for item in value]
    return UNKNOWN_STRING_VALUE if value == UNKNOWN_TEXT else value
