"""A search for advice, with records that a test makes in place of rehearsals."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from infra.config import CONFIG_KEY
from support.records import POOLS, group, node, pod, record, spec
from workbench.rehearsal.advice.advice import Advice
from workbench.rehearsal.advice.search import advise
from workbench.rehearsal.outcome import Outcome
from workbench.rehearsal.record import GroupFacts, Record
from workbench.rehearsal.scenario.model import Scenario
from workbench.rehearsal.verdicts.costs import costs_of
from workbench.rehearsal.verdicts.judge import judge
from workbench.rehearsal.verdicts.specs import untolerated
from workbench.stacks import Stack, read

Play = Callable[[Stack, Scenario], Record]
FULL = "pod didn't trigger scale-up: 1 max node group size reached"
SOON = {"expect": "waits-at-most", "work": "train", "time": "5m"}
SPOT = {"role": "workload", "lifecycle": "spot", "size": {"min": 0, "max": 3}, "instanceTypes": ["m5.2xlarge"]}
GPUS = spec(
    requests={"nvidia.com/gpu": "1"},
    limits={"nvidia.com/gpu": "1"},
    tolerations=[{"key": "nvidia.com/gpu", "operator": "Exists"}],
)


def stack(folder: Path, pools: dict[str, Any] | None = None, **fields: Any) -> Stack:
    choices = {
        "schemaVersion": 1,
        "environment": "dev",
        "cluster": {"kind": "local"},
        "pools": POOLS | (pools or {}),
        "namespaces": {"mlrun": {"coreServices": True}},
    } | fields
    file = folder / "Pulumi.toy.yaml"
    file.write_text(yaml.safe_dump({"config": {CONFIG_KEY: choices}}, sort_keys=False))
    return read(file)


def groups_of(chosen: Stack) -> list[GroupFacts]:
    return [
        group(
            each.name,
            role=each.role.value,
            lifecycle=each.lifecycle.value,
            size=(each.size.min, each.size.max),
            pool=each.pool,
            taints=tuple(map(str, each.taints)),
            gpus=each.instances[0].gpus,
            gpu_resource=each.gpu_resource,
            cpu_millis=each.instances[0].vcpus * 990,
            instance_type=each.instances[0].name,
        )
        for each in chosen.config.groups
    ]


def toy(count: int, **facts: Any) -> Play:
    """Return a play of pods of which each takes a node: those without one wait, as the autoscaler would say."""

    def play(chosen: Stack, _: Scenario) -> Record:
        groups, pods, nodes = groups_of(chosen), [], []
        probe = pod("probe", **({"cpu_millis": 7000} | facts))
        free = [
            (each, number)
            for each in groups
            if each.role != "initial" and not untolerated(probe.spec, each) and each.gpus >= probe.gpus
            for number in range(each.max)
            if probe.cpu_millis <= each.cpu_millis and bool(each.gpus) == bool(probe.gpus)
        ]
        for index in range(count):
            own = {"cpu_millis": 7000} | facts
            if index < len(free):
                place, number = free[index]
                nodes.append(node(f"{place.name}-{number}", place, created=0 if number < place.min else 5))
                pods.append(pod(f"train-{index}", on=nodes[-1].name, wait=0 if number < place.min else 180, **own))
            else:
                pods.append(pod(f"train-{index}", said=(FULL,), **own))
        return record(pods, groups=groups, nodes=nodes)

    return play


def advised(
    chosen: Stack, played: Scenario, play: Play, budget: int = 20, *, failure: Exception | None = None,
    good: int = 0, **options: Any,
) -> tuple[Advice, list[Any]]:  # fmt: skip
    """Return the advice, and the choices of every variant that was tried; after ``good`` ones ``failure`` is raised."""
    variants: list[Any] = []

    def rehearse(variant: Stack, changed: Scenario) -> Outcome:
        variants.append((variant.config, changed))
        if failure and len(variants) > good:
            raise failure
        return outcome(variant, changed, play)

    return advise(chosen, played, outcome(chosen, played, play), rehearse, budget, **options), variants


def outcome(chosen: Stack, played: Scenario, play: Play) -> Outcome:
    facts = play(chosen, played)
    costs = costs_of(facts, lambda *_: 1.0)
    verdicts = judge(played, facts, chosen.config, costs)
    return Outcome(stack=chosen.name, scenario="toy", description="", record=facts, verdicts=verdicts, costs=costs)


def values(advice: Advice) -> dict[str, Any]:
    return {".".join(map(str, edit.path)): edit.value for edit in advice.edits}


def workload(**size: int) -> dict[str, Any]:
    return {"workload": POOLS["workload"] | {"size": {"min": 0, "max": 2} | size}}
