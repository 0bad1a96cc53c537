"""A rule in Python and the same rule in CEL: they must say the same of every example, as the API server shows it."""

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import pytest

from components.contract.environments import ClusterKind
from components.contract.taints import spot_taint
from policies.examples import BASES, UNKNOWN_TEXT, Example, Given, load, load_file
from policies.judge import judge_resource
from policies.registry import RULES
from policies.resource import Resource
from policies.rule import Admission, Context, Rule, Subject
from policies.settings import context
from policies.values import Value
from policies.views.pods import PODS
from policies.views.priority_classes import PRIORITY_CLASS
from support.admission import Rendered, account, local_groups, namespace, present, ready, rules_at_admission, short
from support.api import Answer, Api
from support.cluster import Cluster, pod
from support.scratch_rules import IMAGE, SCRATCH, TOO_HIGH, examples_of_scratch_rules

pytestmark = pytest.mark.control_plane

WRONG = replace(IMAGE, id="ZZ-99", admission=Admission(expression="variables.containers.size() == 0"))
"""Its CEL is not what its check is."""

COMPARED = tuple(
    rule
    for rule in (*RULES, *SCRATCH, WRONG)
    if rule.admission and rule.admission.subject is not Subject.NODES  # that one judges a moment, and no object
)
KINDS = re.compile(f"{PODS.types.pattern}|{re.escape(PRIORITY_CLASS)}")
ALWAYS_THERE = ("system-", "igz-workload-", "igz-system-")


@dataclass(frozen=True, eq=False)
class Case:
    """One resource of an example."""

    example: Example
    given: Given

    def __str__(self) -> str:
        return f"{self.example.rule}/{self.example.name}/{self.given.name}"

    @property
    def context(self) -> Context:
        return context({}, self.example.stack_config, {})

    @property
    def manifest(self) -> dict[str, Any]:
        """What the API server gets, in a namespace and under a name of the test's own."""
        group, kind = self.given.type.removeprefix("kubernetes:").split(":")
        manifest = json.loads(json.dumps(self.given.props))
        metadata = manifest.setdefault("metadata", {})
        metadata["name"] = f"{metadata.get('name', 'x')}-compared"
        if self.given.type != PRIORITY_CLASS:
            metadata["namespace"] = f"agree-{contexts().index(self.context)}"
        return {**manifest, "apiVersion": group.removeprefix("core/"), "kind": kind}


@cache
def cases() -> tuple[Case, ...]:
    examples = [*load(), *load_file(BASES / "kubernetes.yaml"), *examples_of_scratch_rules()]
    return tuple(
        Case(example, given)
        for example in examples
        for given in example.resources
        if KINDS.fullmatch(given.type) and UNKNOWN_TEXT not in str(given.props)
    )


@cache
def contexts() -> tuple[Context, ...]:
    """Return all that rules may know in the examples; for each there is a namespace with parameters of its own."""
    return tuple(dict.fromkeys(case.context for case in cases()))


@dataclass(frozen=True)
class Verdict:
    """What both engines said of a case: ids of violated rules."""

    answer: Answer
    cel: frozenset[str]
    python: frozenset[str]
    doubtful: frozenset[str]
    """Rules that Python could not judge."""


def needs(api: Api) -> Iterator[dict[str, Any]]:
    """Yield what the examples' pods refer to and the API server demands."""
    given = json.dumps([case.manifest for case in cases()])
    for name in sorted(set(re.findall(r'"priorityClassName": "([a-z0-9.-]+)"', given))):
        if not name.startswith(ALWAYS_THERE):
            yield {
                "apiVersion": "scheduling.k8s.io/v1",
                "kind": "PriorityClass",
                "metadata": {"name": name},
                "value": 1,
            }
    for number, known in enumerate(contexts()):
        name = f"agree-{number}"
        yield namespace(name, name)
        for each in sorted(set(re.findall(r'"serviceAccountName": "([a-z0-9.-]+)"', given)) - {"default"}):
            yield account(each, name)
        groups = local_groups(spot_taint(ClusterKind.LOCAL, known.profile))
        rules = short(rules_at_admission(COMPARED))
        choices = known.choices.model_copy(update={"admission": "warn"})
        for manifest in Rendered(name, rules, groups, choices).objects():
            # A warning policy lets pass what fails to be judged; here it must be seen.
            manifest["spec"].update({"failurePolicy": "Fail"} if "failurePolicy" in manifest["spec"] else {})
            yield manifest


@pytest.fixture(scope="module")
def api(cluster: Cluster) -> Api:
    return Api(cluster.kubeconfig())


@pytest.fixture(scope="module")
def verdicts(api: Api) -> Iterator[dict[Case, Verdict]]:
    with ExitStack() as stack:
        stack.enter_context(present(api, needs(api)))
        for number in range(len(contexts())):
            ready(api, pod("probe", namespace=f"agree-{number}"), f"'agree-{number}-pods-mandatory'")
            ready(api, {**TOO_HIGH, "metadata": {"name": "igz-workload-probe"}}, f"'agree-{number}-priorityclasses-")
        yield {case: judged(api, case) for case in cases()}


def judged(api: Api, case: Case) -> Verdict:
    """Let the API server complete and judge the object, and Python judge what came back."""
    number = contexts().index(case.context)
    answer = api.create(case.manifest, dryRun="All", fieldValidation="Ignore")
    ours = [text for text in answer.warnings if f"ValidatingAdmissionPolicy 'agree-{number}-" in text]
    unexplained = [text for text in ours if not re.search(r"\[[A-Z]{2}-\d\d\]", text)]
    assert unexplained == [], case
    resource = Resource(case.given.type, case.given.name, "", Value(answer.body))
    known = replace(case.context, namespaces=frozenset({f"agree-{number}"}))
    said = {rule.id: judge_resource(rule, resource, known) for rule in COMPARED}
    return Verdict(
        answer,
        cel=frozenset(re.findall(r"\[([A-Z]{2}-\d\d)\]", " ".join(ours))),
        python=frozenset(key for key, verdict in said.items() if any(not f.advice for f in verdict.findings)),
        doubtful=frozenset(key for key, verdict in said.items() if verdict.unjudged),
    )


@pytest.mark.parametrize("case", cases(), ids=str)
def test_both_engines_say_the_same(verdicts: dict[Case, Verdict], case: Case) -> None:
    verdict = verdicts[case]
    if verdict.answer.status == 404:
        pytest.skip(f"{case.given.type} is of an operator that is not installed here")
    if verdict.answer.status in {400, 422}:
        pytest.skip(f"the API server takes no such object: {verdict.answer.message}")
    assert verdict.answer.accepted, verdict.answer.message
    certain = verdict.doubtful | {WRONG.id}
    assert verdict.cel - certain == verdict.python - certain


@pytest.mark.parametrize("rule", COMPARED, ids=lambda rule: rule.id)
def test_every_rule_was_seen_kept_and_violated(verdicts: dict[Case, Verdict], rule: Rule[Any]) -> None:
    types = getattr(rule.applies_to, "types", None)
    seen = [v for case, v in verdicts.items() if v.answer.accepted and types and types.fullmatch(case.given.type)]
    assert any(rule.id in verdict.cel for verdict in seen)
    assert any(rule.id not in verdict.cel for verdict in seen) or rule is WRONG


def test_the_comparison_notices_a_rule_whose_two_forms_differ(verdicts: dict[Case, Verdict]) -> None:
    assert any((WRONG.id in verdict.cel) != (WRONG.id in verdict.python) for verdict in verdicts.values())
