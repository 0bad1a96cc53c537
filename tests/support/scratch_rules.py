"""Rules of no pack: one for every way in which a rule can be judged at admission."""

from collections.abc import Iterator
from typing import Any, Final

from components.contract.environments import Environment
from components.contract.labels import LabelKey
from components.contract.priorities import USER_PRIORITY_LIMIT, UserPriority
from policies.examples import BASES, Example, changed, load_file
from policies.rule import MANDATORY_EVERYWHERE, Admission, Context, EachOf, Finding, Level, Rule, Severity, Subject
from policies.rule import WholeStack as Nothing
from policies.views.pods import PODS, USER_PODS, PodFacts
from policies.views.priority_classes import PRIORITY_CLASS, USER_CLASSES, PriorityClassFacts

REGISTRY: Final = "registry.example.com/"
CLASSES: Final = ("", *UserPriority)


def _image(pod: PodFacts, _: Context) -> Iterator[Finding]:
    for container in pod.containers():
        if not (container.at("image").text() or "").startswith(REGISTRY):
            yield Finding(f"{pod} runs another image.")


def _label(pod: PodFacts, _: Context) -> Iterator[Finding]:
    if pod.label("app") is None:
        yield Finding(f"{pod} has no label.")


def _class(pod: PodFacts, _: Context) -> Iterator[Finding]:
    if (pod.spec.at("priorityClassName").text() or "") not in CLASSES:
        yield Finding(f"{pod} has another class.")


def _host_network(pod: PodFacts, _: Context) -> Iterator[Finding]:
    if pod.spec.at("hostNetwork").flag():
        yield Finding(f"{pod} is in the host's network.")


def _node_name(pod: PodFacts, _: Context) -> Iterator[Finding]:
    if pod.spec.at("nodeName").text():
        yield Finding(f"{pod} names a node.")


def _value(facts: PriorityClassFacts, _: Context) -> Iterator[Finding]:
    if facts.value >= USER_PRIORITY_LIMIT:
        yield Finding(f"{facts.name} is too high.")


def _nothing(*_: Any) -> Iterator[Finding]:
    yield from ()


def _rule(
    number: int,
    applies_to: EachOf[Any] | Nothing,
    check: Any,
    expression: str,
    level: Level = Level.MANDATORY,
    **admission: Any,
) -> Rule[Any]:
    return Rule(
        id=f"ZZ-0{number}",
        slug=check.__name__.strip("_"),
        title=f"Scratch rule {number}",
        severity=Severity.LOW,
        level=MANDATORY_EVERYWHERE if level is Level.MANDATORY else dict.fromkeys(Environment, level),
        source="tests",
        applies_to=applies_to,
        why="To be seen.",
        fix=f"Keep 'it', \"{number}\".",
        check=check,
        admission=Admission(expression=expression, **admission),
    )


IMAGE: Final = _rule(
    1,
    USER_PODS,
    _image,
    "",
    culprits=f"variables.images.filter(i, !i.name.startsWith('{REGISTRY}'))"
    ".map(i, i['in'] + ' (image ' + i.name + ')')",
)
LABEL: Final = _rule(
    2, USER_PODS, _label, "has(variables.metadata.labels) && 'app' in variables.metadata.labels", Level.ADVISORY
)
CLASS: Final = _rule(
    3,
    USER_PODS,
    _class,
    "[variables.spec.?priorityClassName.orValue('')].all(name, name == '' || name in params.spec.userClasses)",
)
HOST_NETWORK: Final = _rule(
    4, PODS, _host_network, "!variables.spec.?hostNetwork.orValue(false)", spares_core_services=False
)
NODE_NAME: Final = _rule(5, USER_PODS, _node_name, "variables.placed || variables.spec.?nodeName.orValue('') == ''")
VALUE: Final = _rule(
    6,
    USER_CLASSES,
    _value,
    "!object.metadata.name.startsWith('igz-workload-') || object.value < params.spec.maxUserPriority",
    subject=Subject.PRIORITY_CLASSES,
)
DATA_NODE: Final = _rule(
    7,
    Nothing(),
    _nothing,
    f"oldObject.metadata.?labels['{LabelKey.ROLE}'].orValue('') != 'data'",
    subject=Subject.NODES,
)

SCRATCH: Final = (IMAGE, LABEL, CLASS, HOST_NETWORK, NODE_NAME, VALUE, DATA_NODE)

TOO_HIGH: Final = {
    "apiVersion": "scheduling.k8s.io/v1",
    "kind": "PriorityClass",
    "metadata": {"name": "igz-workload-giant"},
    "value": USER_PRIORITY_LIMIT,
    "preemptionPolicy": "Never",
}
"""A class that keeps the cluster's own rules: of two policies that refuse, the API server lets one speak."""

_BAD: Final = {
    "metadata": {"labels": {"app": None}},
    "spec": {
        "hostNetwork": True,
        "nodeName": "initial-0",
        "priorityClassName": "igz-system-high",
        "containers": [{"name": "main", "image": "example.invalid/image"}],
    },
}


def examples_of_scratch_rules() -> Iterator[Example]:
    """Yield what violates them all, as user work and as a core service, and a class."""
    base = next(example for example in load_file(BASES / "kubernetes.yaml") if example.name == "pod")
    core = {**_BAD, "metadata": {"labels": {LabelKey.CORE_SERVICE.value: "true"}}}
    for name, change in (("bad", _BAD), ("bad-core", core)):
        yield Example("ZZ-00", name, changed(base.content, {"props": change}))
    yield Example("ZZ-00", "bad-class", {"resource": PRIORITY_CLASS, "props": TOO_HIGH})
