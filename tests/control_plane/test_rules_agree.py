"""A rule in Python and the same rule in CEL: they must say the same of every example, as the API server shows it."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import pytest

from components.contract.admission import RULE_VARIABLES
from components.contract.clusters import spot_taint
from components.contract.environments import ClusterKind
from components.contract.groups import NodeGroup, resolve_groups
from components.contract.policy_choices import PolicyChoices
from components.contract.policy_parameters import PARAMETERS_KIND, rule_variables
from components.contract.pools import NodePool
from components.scheduling.policy_objects import resources, variables
from infra.program import run
from policies.examples import BASES, UNKNOWN_TEXT, Example, Given, changed, load, load_file
from policies.judge import judge_resource, judge_stack
from policies.registry import RULES
from policies.resource import Resource
from policies.rule import Admission, Context, Rule, Subject, WholeStack
from policies.settings import context
from policies.values import Value
from policies.views.pods import PODS
from policies.views.priority_classes import PRIORITY_CLASS
from support.admission import Rendered, account, namespace, present, ready, rules_at_admission, short, types_checked
from support.api import Answer, Api, path_of
from support.cluster import Cluster, eventually, pod
from support.recorder import record
from support.scratch_rules import IMAGE, SCRATCH, TOO_HIGH, examples_of_scratch_rules
from workbench.stacks import find

pytestmark = pytest.mark.control_plane

WRONG = replace(IMAGE, id="ZZ-99", admission=Admission(expression="variables.containers.size() == 0"))
"""Its CEL is not what its check is."""

COMPARED = tuple(
    rule
    for rule in (*RULES, *SCRATCH, WRONG)
    if rule.admission and rule.admission.subject is not Subject.NODES  # that one judges a moment, and no object
)
KINDS = re.compile(f"{PODS.types.pattern}|{re.escape(PRIORITY_CLASS)}")
LEFT_OUT = {400: "no such object can be", 404: "a kind of an operator that is not installed here", 422: "as 400"}
ALWAYS_THERE = ("system-", "igz-workload-", "igz-system-")
ROOM_FOR_WARNINGS = 4096
"""Characters after which the API server leaves out warnings: https://github.com/kubernetes/kubernetes/blob/v1.36.3/
staging/src/k8s.io/apiserver/pkg/endpoints/filters/warning.go."""


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
    def pools(self) -> str:
        """What its stack file says about pools that the local stack does not, as text."""
        return json.dumps(self.example.stack_config.get("pools", {}))

    @property
    def number(self) -> int:
        """Number of its namespace."""
        return settings().index((self.context, self.pools))

    @property
    def manifest(self) -> dict[str, Any]:
        """What the API server gets, in a namespace and under a name of the test's own."""
        group, kind = self.given.type.removeprefix("kubernetes:").split(":")
        manifest = json.loads(json.dumps(self.given.props))
        metadata = manifest.setdefault("metadata", {})
        metadata["name"] = f"{metadata.get('name', 'x')}-compared"
        if self.given.type != PRIORITY_CLASS:
            metadata["namespace"] = f"agree-{self.number}"
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
def settings() -> tuple[tuple[Context, str], ...]:
    """Return all that rules may know in the examples; for each there is a namespace with parameters of its own."""
    return tuple(dict.fromkeys((case.context, case.pools) for case in cases()))


@cache
def of_classes() -> frozenset[int]:
    """Return the numbers of the namespaces whose cases are priority classes."""
    return frozenset(case.number for case in cases() if case.given.type == PRIORITY_CLASS)


def groups(known: Context, pools: str) -> tuple[NodeGroup, ...]:
    """Return the local stack's groups, with what an example says otherwise; its own pools start as ``workload``."""
    local = {
        name: pool.model_dump(mode="json", by_alias=True, exclude_unset=True)
        for name, pool in find("local").config.pools.items()
    }
    said = json.loads(pools)
    merged = changed(dict.fromkeys(said, local["workload"]) | local, said)
    models = {name: NodePool.model_validate(pool) for name, pool in merged.items()}
    return resolve_groups(models, spot_taint(ClusterKind.LOCAL, known.profile))


@cache
def local_stack() -> tuple[Resource, ...]:
    """Return the stack from which the parameters are, for rules that compare a pod with its groups."""
    recorder = record(lambda: run(find("local").config, kubeconfig="/nowhere"))
    return tuple(Resource(r.type, r.name, f"urn:{r.type}::{r.name}", Value(r.inputs)) for r in recorder.resources)


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
    for number, (known, pools) in enumerate(settings()):
        name = f"agree-{number}"
        yield namespace(name, name)
        for each in sorted(set(re.findall(r'"serviceAccountName": "([a-z0-9.-]+)"', given)) - {"default"}):
            yield account(each, name)
        rules = short(rules_at_admission(COMPARED))
        choices = known.choices.model_copy(update={"admission": "warn"})
        for manifest in Rendered(name, rules, groups(known, pools), choices).objects():
            # Classes have no namespace, so that every copy warns of each, and the API server keeps 4,096 characters.
            if "-priorityclasses-" in manifest["metadata"]["name"] and number not in of_classes():
                continue
            # A warning policy lets pass what fails to be judged; here it must be seen.
            manifest["spec"].update({"failurePolicy": "Fail"} if "failurePolicy" in manifest["spec"] else {})
            yield manifest


@pytest.fixture(scope="module")
def api(cluster: Cluster) -> Api:
    return Api(cluster.kubeconfig())


@contextmanager
def heard(api: Api) -> Iterator[None]:
    """Let the cluster's own rules about classes only warn: what they refuse comes back without the object."""
    path = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/igz-priorityclasses-mandatory"
    preempting = {**TOO_HIGH, "preemptionPolicy": "PreemptLowerPriority"}
    acts = api.send("GET", path).body["spec"]["validationActions"]
    assert api.send("PATCH", path, {"spec": {"validationActions": ["Warn"]}}).accepted
    try:
        eventually(lambda: api.create(preempting, dryRun="All").accepted)
        yield
    finally:
        api.send("PATCH", path, {"spec": {"validationActions": acts}})
        eventually(lambda: not api.create(preempting, dryRun="All").accepted)


@pytest.fixture(scope="module")
def verdicts(api: Api) -> Iterator[dict[Case, Verdict]]:
    with ExitStack() as stack:
        stack.enter_context(heard(api))
        stack.enter_context(present(api, needs(api)))
        for number in range(len(settings())):
            ready(api, pod("probe", namespace=f"agree-{number}"), f"'agree-{number}-pods-mandatory'")
        for number in of_classes():
            ready(api, {**TOO_HIGH, "metadata": {"name": "igz-workload-probe"}}, f"'agree-{number}-priorityclasses-")
        yield {case: judged(api, case) for case in cases()}


def judged(api: Api, case: Case) -> Verdict:
    """Let the API server complete and judge the object, and Python judge what came back."""
    number = case.number
    answer = api.create(case.manifest, dryRun="All", fieldValidation="Ignore")
    assert sum(map(len, answer.warnings)) < ROOM_FOR_WARNINGS, f"{case}: the API server left out warnings"
    ours = [text for text in answer.warnings if f"ValidatingAdmissionPolicy 'agree-{number}-" in text]
    unexplained = [text for text in ours if not re.search(r"\[[A-Z]{2}-\d\d\]", text)]
    assert unexplained == [], case
    resource = Resource(case.given.type, case.given.name, "", Value(answer.body))
    # Python judges what came back, so it need not foresee a place.
    known = replace(case.context, namespaces=frozenset({f"agree-{number}"}), gives_places=False)
    said = {
        rule.id: judge_stack(rule, [*local_stack(), resource], known)
        if isinstance(rule.applies_to, WholeStack)
        else judge_resource(rule, resource, known)
        for rule in COMPARED
    }
    return Verdict(
        answer,
        cel=frozenset(re.findall(r"\[([A-Z]{2}-\d\d)\]", " ".join(ours))),
        python=frozenset(key for key, verdict in said.items() if any(not f.advice for f in verdict.findings)),
        doubtful=frozenset(key for key, verdict in said.items() if verdict.unjudged),
    )


@pytest.mark.parametrize("rule", COMPARED, ids=lambda rule: rule.id)
def test_both_engines_say_the_same_of_every_object(verdicts: dict[Case, Verdict], rule: Rule[Any]) -> None:
    judged = {case: v for case, v in verdicts.items() if v.answer.accepted and rule.id not in v.doubtful}
    differ = {
        str(c): "CEL" if rule.id in v.cel else "Python" for c, v in judged.items() if (rule.id in v.cel ^ v.python)
    }
    assert bool(differ) is (rule is WRONG), f"only one engine finds a violation: {differ}"


@pytest.mark.parametrize("rule", COMPARED, ids=lambda rule: rule.id)
def test_every_rule_was_seen_kept_and_violated(verdicts: dict[Case, Verdict], rule: Rule[Any]) -> None:
    types = getattr(rule.applies_to, "types", PODS.types)
    concerned = {case: v for case, v in verdicts.items() if types.fullmatch(case.given.type)}
    seen = [v for v in concerned.values() if v.answer.accepted]
    refused = {
        str(case): v.answer.message for case, v in concerned.items() if case.example.rule == rule.id and v not in seen
    }
    assert any(rule.id in verdict.cel for verdict in seen), f"the API server takes none of its bad examples: {refused}"
    assert any(rule.id not in verdict.cel for verdict in seen) or rule is WRONG, f"nor of its good ones: {refused}"


def test_nothing_is_left_out_but_what_no_api_server_would_take(verdicts: dict[Case, Verdict]) -> None:
    refused = {str(case): v.answer for case, v in verdicts.items() if not v.answer.accepted}
    reasons = {name: answer.message for name, answer in refused.items() if answer.status not in LEFT_OUT}
    assert reasons == {}


def container(name: str, **more: Any) -> dict[str, Any]:
    amounts = {"cpu": "1m", "memory": "1Mi"}
    resources = {"requests": amounts, "limits": amounts}
    return {"name": name, "image": f"registry.example.com/ml/{name}@sha256:{'0' * 64}", "resources": resources, **more}


LARGEST_BYTES = 1_400_000
"""Almost what etcd takes in a request: https://etcd.io/docs/v3.6/dev-guide/limit/."""

QUADRATIC = ("tolerations", "volumes", "node affinity")
"""What the API server itself compares each with each, which takes it 20 s at the full size; a quarter is enough."""

LARGE: dict[str, Callable[[int], dict[str, Any]]] = {
    "containers": lambda n: {"containers": [container(f"c{i}") for i in range(n)]},
    "init containers": lambda n: {"initContainers": [container(f"i{i}") for i in range(n)]},
    "environment": lambda n: {
        "containers": [container("c", env=[{"name": f"VARIABLE_{i}", "value": "x" * 40} for i in range(n)])]
    },
    "tolerations": lambda n: {"tolerations": [{"key": f"example.com/t{i}", "operator": "Exists"} for i in range(n)]},
    "volumes": lambda n: {"volumes": [{"name": f"v{i}", "emptyDir": {}} for i in range(n)]},
    "node affinity": lambda n: {
        "affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [
                        {"matchExpressions": [{"key": f"example.com/k{i}", "operator": "Exists"}]} for i in range(n)
                    ]
                }
            }
        }
    },
}


@pytest.mark.parametrize("much", LARGE)
def test_the_largest_pod_is_judged_within_the_budget_of_the_api_server(
    api: Api, verdicts: dict[Case, Verdict], much: str
) -> None:
    def manifest(count: int) -> dict[str, Any]:
        made = pod("large", namespace="agree-0", containers=[container("main")])
        return {**made, "spec": {**made["spec"], **LARGE[much](count)}}

    least, each = len(json.dumps(manifest(0))), len(json.dumps(manifest(1001))) - len(json.dumps(manifest(1000)))
    count = (LARGEST_BYTES // (4 if much in QUADRATIC else 1) - least) // each
    answer = api.create(manifest(count), dryRun="All")
    assert answer.accepted, answer.message
    said = [text for text in answer.warnings if "ValidatingAdmissionPolicy 'agree-0-pods-" in text]
    assert all(re.search(r"\[[A-Z]{2}-\d\d\]", text) for text in said), [
        t for t in said if not re.search(r"\[[A-Z]{2}-\d\d\]", t)
    ]


def test_every_expression_fits_the_types_of_a_pod(api: Api, cluster: Cluster) -> None:
    """The cluster's own policies judge several kinds at once, whose common type is none; here each rule is checked."""
    fields = {"template": "object", "metadata": "object.metadata", "spec": "object.spec"}
    of_the_stack = rule_variables((), PolicyChoices.model_validate({}))
    typed = {**of_the_stack, **RULE_VARIABLES, **fields, "containers": "object.spec.containers"}
    rules = [rule for rule in rules_at_admission(COMPARED) if rule.subject == "pods"]
    policies = [
        {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingAdmissionPolicy",
            "metadata": {"name": f"typed-{rule.id.lower()}"},
            "spec": {
                "paramKind": PARAMETERS_KIND,
                "matchConstraints": {"resourceRules": [resources("", ["pods"], "CREATE")]},
                "variables": variables(typed),
                "validations": [{"expression": rule.expression or f"({rule.culprits}).size() == 0"}],
            },
        }
        for rule in rules
    ]
    with present(api, policies), types_checked(cluster):
        found = {
            policy["metadata"]["name"]: eventually(
                lambda policy=policy: (
                    api.send("GET", path_of(policy)).body.get("status", {}).get("typeChecking") is not None
                    and api.send("GET", path_of(policy)).body["status"]
                )
            )
            for policy in policies
        }
    warned = {name: status["typeChecking"].get("expressionWarnings") for name, status in found.items()}
    assert {name: said for name, said in warned.items() if said} == {}
