"""One change each to the inputs that the local and the existing cluster render, and the rules that must notice it.

A weakening acts behind validation, on the way from the component to the engine: what a careless edit of a component
would do.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from components.contract.labels import AnnotationKey, LabelKey, WellKnownLabel

NODE = "kubernetes:core/v1:Node"
CONFIG_MAP = "kubernetes:core/v1:ConfigMap"
EXISTING_POOL = "igz-clusters:clusters:ExistingPool"
PRIORITY_CLASS = "kubernetes:scheduling.k8s.io/v1:PriorityClass"
Props = dict[str, Any]


@dataclass(frozen=True)
class Change:
    """A change to one resource's inputs, and the pool or class that it is about."""

    about: str
    apply: Callable[[str, str, Props], object]


@dataclass(frozen=True)
class Weakening:
    """A change, the rules that must fire, and the stack whose rules they are."""

    change: Change
    rules: tuple[str, ...]
    stack: str = "local"

    def disturbs(self, other: "Weakening") -> bool:
        """Whether one preview of both could not tell which of them a rule noticed."""
        return self.change.about == other.change.about or not set(self.rules).isdisjoint(other.rules)


def of_initial(change: Callable[[Props], object]) -> Change:
    def apply(token: str, name: str, props: Props) -> None:
        if token == NODE and name.startswith("initial-"):
            change(props)

    return Change("initial", apply)


def of_template(pool: str, change: Callable[[Props], object]) -> Change:
    def apply(token: str, name: str, props: Props) -> None:
        if token == CONFIG_MAP and name == "kwok-provider-templates":
            templates = yaml.safe_load(props["data"]["templates"])
            change(next(node for node in templates["items"] if node["metadata"]["name"] == pool))
            props["data"]["templates"] = yaml.safe_dump(templates)

    return Change(pool, apply)


def of_class(class_name: str, change: Callable[[Props], object]) -> Change:
    def apply(token: str, name: str, props: Props) -> None:
        if token == PRIORITY_CLASS and name == class_name:
            change(props)

    return Change(class_name, apply)


def of_existing(pool: str, change: Callable[[Props], object]) -> Change:
    def apply(token: str, name: str, props: Props) -> None:
        if token == EXISTING_POOL and name.endswith(f"-{pool}"):
            change(props)

    return Change(pool, apply)


def labels(key: LabelKey | WellKnownLabel, value: str | None) -> Callable[[Props], object]:
    def change(node: Props) -> None:
        node["metadata"]["labels"].pop(key, None)
        if value is not None:
            node["metadata"]["labels"][key.value] = value

    return change


def annotations(**values: str) -> Callable[[Props], object]:
    return lambda node: node["metadata"]["annotations"].update(
        {AnnotationKey[key].value: value for key, value in values.items()}
    )


WEAKENINGS: dict[str, Weakening] = {
    "pool-without-role": Weakening(of_template("workload", labels(LabelKey.ROLE, None)), ("NG-01",)),
    "pool-with-unknown-role": Weakening(of_template("workload", labels(LabelKey.ROLE, "batch")), ("NG-01",)),
    "no-initial-group": Weakening(of_initial(labels(LabelKey.ROLE, "workload")), ("NG-02",)),
    "initial-group-of-no-node": Weakening(
        of_initial(annotations(SIZE_MIN="0", SIZE_MAX="0", SIZE_DESIRED="0")), ("NG-05",)
    ),
    "single-initial-node-in-prod": Weakening(
        of_initial(annotations(SIZE_MIN="1", SIZE_MAX="1", SIZE_DESIRED="1")), ("NG-06",), "local-prod"
    ),
    "autoscaled-initial-group": Weakening(of_initial(annotations(SIZE_MAX="3")), ("NG-07",)),
    "spot-initial-group": Weakening(
        of_initial(lambda node: (annotations(CAPACITY_TYPE="spot")(node), spot_marks(node))), ("NG-08",)
    ),
    "gpu-type-in-the-workload-group": Weakening(
        of_template("workload", labels(WellKnownLabel.INSTANCE_TYPE, "g5.2xlarge")), ("NG-16", "NG-17")
    ),
    "cpu-type-in-the-gpu-group": Weakening(
        of_template("gpu", labels(WellKnownLabel.INSTANCE_TYPE, "m6i.2xlarge")), ("NG-16",)
    ),
    "gpu-group-without-taint": Weakening(
        of_template("gpu", lambda node: node["spec"].pop("taints")), ("NG-17",), "local-prod"
    ),
    "gpu-taint-with-another-value": Weakening(
        of_template("gpu", lambda node: node["spec"]["taints"][0].update(value="true")), ("NG-17",), "local-prod"
    ),
    "spot-group-labelled-as-kept": Weakening(
        of_template("spot", labels(LabelKey.LIFECYCLE, "non-preemptible")), ("NG-23",)
    ),
    "group-without-lifecycle": Weakening(of_template("workload", labels(LabelKey.LIFECYCLE, None)), ("NG-23",)),
    "spot-group-without-taint": Weakening(
        of_template("spot", lambda node: node["spec"].pop("taints")), ("NG-24", "SP-05")
    ),
    "existing-pool-without-role": Weakening(
        of_existing("workload", lambda pool: pool["labels"].pop(LabelKey.ROLE)), ("NG-01", "NG-13"), "existing"
    ),
    "existing-initial-pool-of-no-node": Weakening(
        of_existing("initial", lambda pool: pool.update(size={"min": 0, "max": 0})), ("NG-05",), "existing"
    ),
    "existing-initial-pool-that-moves": Weakening(
        of_existing("initial", lambda pool: pool["size"].update(max=9)), ("NG-07",), "existing"
    ),
    "existing-initial-pool-on-spot": Weakening(
        of_existing("initial", lambda pool: (pool.update(lifecycle="spot"), spot_facts(pool))),
        ("NG-08", "SP-05"),
        "existing",
    ),
    "existing-gpus-outside-the-gpu-pool": Weakening(
        of_existing("workload", lambda pool: pool["machines"][0].update(gpus=4)), ("NG-16", "NG-17"), "existing"
    ),
    "existing-pool-labelled-as-spot": Weakening(
        of_existing("workload", lambda pool: pool["labels"].update({LabelKey.LIFECYCLE.value: "preemptible"})),
        ("NG-23",),
        "existing",
    ),
    "existing-spot-pool-without-taint": Weakening(
        of_existing("workload", lambda pool: (pool.update(lifecycle="spot"), spot_facts(pool), pool.update(taints=[]))),
        ("NG-24", "SP-05"),
        "existing",
    ),
    "missing-class": Weakening(
        of_class("igz-workload-low", lambda cls: cls["metadata"].update(name="igz-other")), ("PR-01",)
    ),
    "low-above-high": Weakening(of_class("igz-workload-low", lambda cls: cls.update(value=900)), ("PR-02",)),
    "class-above-core-services": Weakening(
        of_class("igz-workload-high", lambda cls: cls.update(value=5_000_000)), ("PR-02",)
    ),
    "class-that-preempts": Weakening(
        of_class("igz-workload-high", lambda cls: cls.update(preemptionPolicy="PreemptLowerPriority")), ("PR-03",)
    ),
    "class-that-preempts-by-default": Weakening(
        of_class("igz-workload-high", lambda cls: cls.pop("preemptionPolicy")), ("PR-03",)
    ),
}


def spot_facts(pool: Props) -> None:
    """Make an existing pool a consistent spot pool."""
    pool["labels"][LabelKey.LIFECYCLE.value] = "preemptible"
    pool["taints"].append({"key": LabelKey.LIFECYCLE.value, "value": "preemptible", "effect": "NoSchedule"})


def spot_marks(node: Props) -> None:
    """Make a node a consistent spot node, so that only the rule on the initial group can object."""
    labels(LabelKey.LIFECYCLE, "preemptible")(node)
    taint = {"key": LabelKey.LIFECYCLE.value, "value": "preemptible", "effect": "NoSchedule"}
    node.setdefault("spec", {}).setdefault("taints", []).append(taint)


def together(weakenings: Mapping[str, Weakening]) -> list[list[str]]:
    """Return the names in as few lists as come of it, each for one preview in which none disturbs another."""
    found: list[list[str]] = []
    for name, weakening in weakenings.items():
        for names in found:
            others = [weakenings[each] for each in names]
            if all(each.stack == weakening.stack and not each.disturbs(weakening) for each in others):
                names.append(name)
                break
        else:
            found.append([name])
    return found
