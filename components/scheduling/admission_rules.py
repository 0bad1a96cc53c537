"""Admission policies for the rules of the packs, since objects created at run time pass no preview.

The rules come as data, which ``python -m policies.admission --write`` generates from the registry.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Final

import pulumi
from pulumi_kubernetes.apiextensions import CustomResource
from pulumi_kubernetes.apiextensions.v1 import CustomResourceDefinition

from components.base import PlatformComponent
from components.contract.admission import GUARDED_CONTROLLERS, RULE_VARIABLES, WAIVER_PREFIX, may_manage
from components.contract.environments import Environment
from components.contract.groups import NodeGroup
from components.contract.labels import OWN_DOMAIN
from components.contract.placement import (
    BY_THE_CLUSTER,
    TEMPLATE_IS_NEW,
    Placement,
    settled,
)
from components.contract.policy_choices import AdmissionMode, PolicyChoices
from components.contract.policy_parameters import (
    PARAMETERS_KIND,
    PARAMETERS_NAME,
    PARAMETERS_PLURAL,
    parameters_schema,
    parameters_spec,
    policy_parameters,
    rule_variables,
)
from components.ownership import owned
from components.scheduling.policy_objects import USER_NAMESPACES, declare, resources, variables

DATA: Final = Path(__file__).with_suffix(".json")

_NAMED: Final = 200
"""Maximum number of characters of the culprits that a message names."""

WARNS: Final = ("Warn", "Audit")
DENIES: Final = ("Deny",)


@dataclass(frozen=True, kw_only=True)
class AdmissionRule:
    """One rule in the API server's own language."""

    id: str
    subject: str
    """What it checks, a key of ``SUBJECTS``."""
    expression: str
    """True if the object complies; empty for rules with ``culprits``."""
    culprits: str
    """List of texts that name what violates the rule; empty for rules with an ``expression``."""
    title: str
    """What it requires, without a full stop."""
    advice: str
    """What to do."""
    source: str
    """Link to the document that requires it."""
    level: Mapping[str, str]
    """``mandatory``, ``advisory`` or ``off``, by environment."""
    spares_core_services: bool
    concerns_place: bool = False
    """Whether it is about the nodes that pods select."""

    def linked_to(self, documentation: str | None) -> "AdmissionRule":
        """Return the rule with a link in its advice: to its section of the documentation, or to its source."""
        link = f"{documentation}#{self.id.lower()}" if documentation else self.source
        return replace(self, advice=f"{self.advice} See {link}") if link else self

    @property
    def message(self) -> str:
        """Text of a rejection that names nothing."""
        return f"{self.title}. {self.advice}"

    @property
    def message_expression(self) -> str:
        """Expression for the text of a rejection, which names as many culprits as fit."""
        if not self.culprits:
            return _quoted(self.message)
        # A whole message may have 5 KiB: https://github.com/kubernetes/kubernetes/blob/v1.36.3/staging/src/k8s.io/
        # apiserver/pkg/admission/plugin/policy/validating/validator.go
        named = (
            f"[variables.{self.variable}_culprits.join('; ')]"
            f".map(t, t.size() > {_NAMED} ? t.substring(0, {_NAMED}) + '…' : t)[0]"
        )
        return f"{_quoted(f'{self.title}: ')} + {named} + {_quoted(f'. {self.advice}')}"

    @property
    def variables(self) -> dict[str, str]:
        """Variables that its expressions need."""
        return {f"{self.variable}_culprits": self.culprits} if self.culprits else {}

    @property
    def variable(self) -> str:
        """Name of the policy's variable that is true if the object complies with the rule."""
        return self.id.lower().replace("-", "_")

    @property
    def kept(self) -> str:
        """Expression that is true if the object complies or is exempt."""
        excuses = []
        if self.subject == "pods":
            excuses.append(f"'{WAIVER_PREFIX}{self.id.lower()}' in variables.waivers")
            if self.spares_core_services:
                excuses.append("variables.core")
        complies = f"variables.{self.variable}_culprits.size() == 0" if self.culprits else f"({self.expression})"
        return " || ".join([*excuses, complies])


@cache
def admission_rules() -> tuple[AdmissionRule, ...]:
    """Return the rules of the data file."""
    return tuple(AdmissionRule(**entry) for entry in json.loads(DATA.read_text(encoding="utf-8")))


@dataclass(frozen=True, kw_only=True)
class Subject:
    """Objects that a policy checks."""

    judged: Sequence[dict[str, Any]]
    """Requests that a mandatory rule rejects."""
    foretold: Sequence[dict[str, Any]] = ()
    """Requests for controllers that will create such objects later; they only get a warning."""
    scope: Mapping[str, Any] = field(default_factory=dict)
    conditions: Mapping[str, str] = field(default_factory=dict)
    """Conditions by name that a request must meet to be checked."""
    variables: Mapping[str, str] = field(default_factory=dict)


SUBJECTS: Final = {
    "pods": Subject(
        judged=[resources("", ["pods", "pods/ephemeralcontainers", "pods/resize"], "CREATE", "UPDATE")],
        foretold=[resources(group, kinds, "CREATE", "UPDATE") for group, kinds in GUARDED_CONTROLLERS.items()],
        scope=USER_NAMESPACES,
        # Controllers change metadata of pods that are older than a rule, so only new or changed specs are checked.
        conditions={"spec-is-new": "request.operation == 'CREATE' || object.spec != oldObject.spec"},
        variables=RULE_VARIABLES,
    ),
    "priorityclasses": Subject(judged=[resources("scheduling.k8s.io", ["priorityclasses"], "CREATE", "UPDATE")]),
    "nodes": Subject(
        judged=[resources("", ["nodes"], "DELETE")],
        conditions={
            # Cloud controllers delete the node of an instance that is gone. Such a node no longer reports ready:
            # https://github.com/kubernetes/cloud-provider/blob/master/controllers/nodelifecycle/node_lifecycle_controller.go
            "node-is-alive": "oldObject.?status.?conditions.orValue([])"
            ".exists(c, c.type == 'Ready' && c.status == 'True')",
            "not-the-platform-role": f"!{may_manage('nodes')}",
        },
    ),
}
"""Subjects by the name that rules use."""


@dataclass(frozen=True, kw_only=True)
class AdmissionRulesArgs:
    """Inputs of the rules at admission."""

    environment: Environment
    groups: tuple[NodeGroup, ...]
    choices: PolicyChoices
    placement: Placement = field(default_factory=Placement)
    """Default: the API server sets placements, and no namespace has core services."""
    rules: tuple[AdmissionRule, ...] = field(default_factory=admission_rules)
    """Default: those of the policy packs."""


class AdmissionRules(PlatformComponent):
    """The cluster's parameter object, and policies for each subject and level that has rules.

    A rejecting policy reports all violated rules at once, because the API server reports only one of several
    rejections. A warning policy issues a separate warning for each violated rule.
    """

    def __init__(self, name: str, args: AdmissionRulesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("igz-clusters:scheduling:AdmissionRules", name, None, opts)
        parameters = self._parameters(args)
        of_the_stack = rule_variables(args.groups, args.choices)
        for subject in SUBJECTS:
            for level in ("mandatory", "advisory"):
                rules = [
                    rule.linked_to(args.choices.documentation)
                    for rule in args.rules
                    if rule.subject == subject and rule.level[args.environment] == level
                ]
                refuses = level == "mandatory" and args.choices.admission is AdmissionMode.DENY
                for part, judged, some in _parts(args.placement, subject, rules):
                    if some:
                        needed = {**_used(of_the_stack, some), **judged.variables}
                        judged = replace(judged, variables=needed)  # noqa: PLW2901
                        self._policies(f"igz-{part}-{level}", judged, some, parameters, refuses=refuses)
        self.register_outputs({})

    def _parameters(self, args: AdmissionRulesArgs) -> pulumi.Resource:
        plural, kind = PARAMETERS_PLURAL, PARAMETERS_KIND["kind"]
        spec = {"type": "object", "required": ["spec"], "properties": {"spec": parameters_schema()}}
        version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": spec}}
        definition = CustomResourceDefinition(
            f"{plural}.{OWN_DOMAIN}",
            metadata=owned(f"{plural}.{OWN_DOMAIN}"),
            spec={
                "group": OWN_DOMAIN,
                "names": {"kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": plural},
                "scope": "Cluster",
                "versions": [version],
            },
            opts=self.child(),
        )
        return CustomResource(
            PARAMETERS_NAME,
            api_version=PARAMETERS_KIND["apiVersion"],
            kind=kind,
            metadata=owned(PARAMETERS_NAME),
            spec=parameters_spec(policy_parameters(args.groups, args.choices)),
            opts=self.child(depends_on=[definition]),
        )

    def _policies(
        self,
        name: str,
        subject: Subject,
        rules: Sequence[AdmissionRule],
        parameters: pulumi.Resource,
        *,
        refuses: bool,
    ) -> None:
        if refuses and subject.foretold:
            self._policy(f"{name}-foretold", replace(subject, judged=()), rules, parameters, refuses=False)
            subject = replace(subject, foretold=())
        self._policy(name, subject, rules, parameters, refuses=refuses)

    def _policy(
        self,
        name: str,
        subject: Subject,
        rules: Sequence[AdmissionRule],
        parameters: pulumi.Resource,
        *,
        refuses: bool,
    ) -> None:
        reads_parameters = any("params." in rule.expression + rule.culprits for rule in rules)
        spec = {
            # A policy that only warns admits what it cannot evaluate.
            "failurePolicy": "Fail" if refuses else "Ignore",
            "matchConstraints": {"resourceRules": [*subject.judged, *subject.foretold], **subject.scope},
            "matchConditions": [{"name": key, "expression": value} for key, value in subject.conditions.items()],
            **(_refusal if refuses else _warnings)(subject, rules),
        }
        bound: dict[str, Any] = {}
        if reads_parameters:
            spec["paramKind"] = PARAMETERS_KIND
            bound["paramRef"] = {"name": PARAMETERS_NAME, "parameterNotFoundAction": "Deny"}
        bound["validationActions"] = list(DENIES if refuses else WARNS)
        declare(self, name, spec, bound, after=[parameters] if reads_parameters else [])


def _parts(
    placement: Placement, name: str, rules: Sequence[AdmissionRule]
) -> Iterator[tuple[str, Subject, Sequence[AdmissionRule]]]:
    """Yield name, subject and rules of each policy about a subject."""
    subject = SUBJECTS[name]
    if not placement.mutates and name == "pods":
        about_places = [rule for rule in rules if rule.concerns_place]
        yield "placement", _answered_by_authors(placement, subject), about_places
        rules = [rule for rule in rules if rule not in about_places]
    yield name, subject, rules


def _answered_by_authors(placement: Placement, subject: Subject) -> Subject:
    """Return the subject of rules about placement: all pods and controllers, unless their author may choose any node.

    Match conditions make this exception, because the expression of a message cannot check rights.
    """
    conditions = {
        "place-not-settled": f"!({settled(placement)})",
        "new": f"({subject.conditions['spec-is-new']}) && (request.resource.resource == 'pods' || {TEMPLATE_IS_NEW})",
        # Controllers must be able to scale objects that are older than the rules.
        "by-people": f"request.resource.resource == 'pods' || !({BY_THE_CLUSTER})",
    }
    return replace(subject, judged=[*subject.judged, *subject.foretold], foretold=(), conditions=conditions)


def _used(values: Mapping[str, str], rules: Sequence[AdmissionRule]) -> dict[str, str]:
    texts = [text for rule in rules for text in (rule.expression, rule.culprits)]
    return {name: value for name, value in values.items() if any(f"variables.{name}" in text for text in texts)}


def _warnings(subject: Subject, rules: Sequence[AdmissionRule]) -> dict[str, Any]:
    return {
        "variables": variables({**subject.variables, **_needed(rules)}),
        "validations": [
            {
                "expression": rule.kept,
                "message": rule.message,
                **({"messageExpression": rule.message_expression} if rule.culprits else {}),
            }
            for rule in rules
        ],
    }


def _refusal(subject: Subject, rules: Sequence[AdmissionRule]) -> dict[str, Any]:
    kept = {rule.variable: rule.kept for rule in rules}
    return {
        "variables": variables({**subject.variables, **_needed(rules), **kept, "violations": _violations(rules)}),
        "validations": [
            {
                "expression": "variables.violations.size() == 0",
                "messageExpression": "variables.violations.join(' ')",
                "message": f"too many violations to list; these rules apply: {', '.join(rule.id for rule in rules)}",
                "reason": "Forbidden",
            }
        ],
    }


def _needed(rules: Sequence[AdmissionRule]) -> dict[str, str]:
    return {name: expression for rule in rules for name, expression in rule.variables.items()}


def _violations(rules: Sequence[AdmissionRule]) -> str:
    """Return the expression for the messages of all rules that are violated."""
    messages = (f"variables.{rule.variable} ? '' : {rule.message_expression}" for rule in rules)
    return f"[{', '.join(messages)}].filter(message, message != '')"


def _quoted(text: str) -> str:
    # A JSON string is a CEL string.
    return json.dumps(text, ensure_ascii=False)
