"""Records of rehearsals in a few words: groups, nodes, pods and the scenarios that they are judged by.

Every builder fills in what a test does not care about; anything that the test names is exactly what the record holds.
"""

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from components.contract.labels import TRUE, LabelKey
from infra.config import StackConfig, parse
from workbench.rehearsal.record import GroupFacts, NodeRecord, PodEnd, PodRecord, Reason, Record, Refusal
from workbench.rehearsal.scenario.model import Scenario
from workbench.rehearsal.verdicts.judge import judge
from workbench.rehearsal.verdicts.verdict import Verdict

HOUR = 3600.0
SPOT_TAINT = "app.iguazio.com/lifecycle=preemptible:NoSchedule"
GPU_TAINT = "nvidia.com/gpu=present:NoSchedule"
USER = {LabelKey.USER_WORKLOADS.value: TRUE}
_uids = itertools.count(1)


def group(
    name: str = "workload",
    *,
    role: str = "workload",
    lifecycle: str = "on-demand",
    size: tuple[int, int] = (0, 10),
    labels: Mapping[str, str] | None = None,
    **facts: Any,
) -> GroupFacts:
    """Return a group of 8 cores and 32 GiB, of which kubelet leaves 7910m and 29,000 MiB, with its usual labels."""
    own = {
        LabelKey.ROLE.value: role,
        LabelKey.POOL.value: facts.get("pool", name),
        LabelKey.LIFECYCLE.value: "preemptible" if lifecycle == "spot" else "non-preemptible",
        **({} if role in ("initial", "data") else USER),
    }
    filled: dict[str, Any] = {
        "pool": name,
        "zone": None,
        "instance_type": "g5.2xlarge" if role == "gpu" else "m6i.2xlarge",
        "taints": (GPU_TAINT,) if role == "gpu" else (),
        "gpu_resource": "nvidia.com/gpu" if role == "gpu" else None,
        "cpu_millis": 7910,
        "memory_mib": 29_000,
        "gpus": 1 if role == "gpu" else 0,
    } | facts
    return GroupFacts(
        name=name,
        role=role,
        lifecycle=lifecycle,
        min=size[0],
        max=size[1],
        is_elastic=size[0] < size[1],
        labels=own | dict(labels or {}),
        **filled,
    )


def node(name: str, of: GroupFacts, *, created: float = 0.0, **facts: Any) -> NodeRecord:
    """Return a node of a group, ready as soon as it was created, that exists until the end."""
    filled: dict[str, Any] = {
        "zone": of.zone,
        "ready": created,
        "cpu_millis": of.cpu_millis,
        "memory_mib": of.memory_mib,
        "gpus": of.gpus,
        "instance_type": of.instance_type,
    } | facts
    return NodeRecord(
        name=name, group=of.name, pool=of.pool, role=of.role, lifecycle=of.lifecycle, created=created, **filled
    )


def spec(
    *,
    selector: Mapping[str, str] | None = None,
    tolerations: Iterable[Mapping[str, Any]] = (),
    requests: Mapping[str, str] | None = None,
    limits: Mapping[str, str] | None = None,
    **fields: Any,
) -> dict[str, Any]:
    """Return a pod's spec as it is recorded, with one container."""
    resources = {"requests": dict(requests or {"cpu": "1", "memory": "2Gi"}), "limits": dict(limits or {})}
    return {
        "containers": [{"resources": resources}],
        "nodeSelector": dict(USER if selector is None else selector),
        "tolerations": [*map(dict, tolerations)],
        **fields,
    }


def pod(
    name: str,
    work: str = "train",
    *,
    on: str | None = None,
    wait: float | None = None,
    lasts: float | None = None,
    said: Iterable[str] = (),
    **facts: Any,
) -> PodRecord:
    """Return a pod; ``on`` is its node, ``wait`` the seconds until it ran, ``lasts`` the seconds that it ran.

    It runs if it has a node, and waits otherwise. With ``lasts`` it succeeded. Texts of ``said`` are the autoscaler's
    if they speak of a scale-up, else the scheduler's.
    """
    created = float(facts.get("created", 0.0))
    started = created + (wait or 0.0) if on or wait is not None else None
    ended = started + lasts if started is not None and lasts is not None else None
    end = PodEnd.SUCCEEDED if ended is not None else PodEnd.RUNS if started is not None else PodEnd.WAITS
    filled: dict[str, Any] = {
        "namespace": "mlrun",
        "uid": f"uid-{next(_uids)}",
        "unit": name if work else "",
        "kind": "mlrun-job",
        "created": created,
        "scheduled": started,
        "started": started,
        "ended": ended,
        "end": end,
        "node": on,
        "cpu_millis": 1000,
        "memory_mib": 2048,
        "spec": spec(),
    } | facts
    speakers = [("autoscaler" if "scale-up" in text else "scheduler", text) for text in said]
    reasons = tuple(Reason(created, component, text) for component, text in speakers)
    return PodRecord(name=name, work=work, reasons=reasons, **filled)


def lost(before: PodRecord, at: float, cause: str = "spot-reclaim", end: PodEnd = PodEnd.LOST) -> PodRecord:
    """Return the pod as it is if its node went away at a moment."""
    return replace(before, ended=at, end=end, end_cause=f"{cause} of node {before.node}")


def refusal(name: str, message: str, work: str = "train", **facts: Any) -> Refusal:
    """Return the refusal of a pod that is a unit of its own."""
    filled: dict[str, Any] = {"at": 0.0, "unit": name, "kind": "Pod"} | facts
    return Refusal(work=work, name=name, message=message, **filled)


def record(
    pods: Iterable[PodRecord] = (), *, groups: Iterable[GroupFacts] | None = None, lasts: float = HOUR, **facts: Any
) -> Record:
    """Return a record of an hour; its units are those of its pods and refusals."""
    pods = tuple(pods)
    units: dict[str, dict[str, None]] = {}
    for each in (*pods, *facts.get("refusals", ())):
        if each.work:
            units.setdefault(each.work, {})[each.unit] = None
    filled: dict[str, Any] = {
        "speed": 60.0,
        "units": {work: tuple(names) for work, names in units.items()},
        "nodes": (),
    } | {key: tuple(value) if isinstance(value, list) else value for key, value in facts.items()}
    return Record(lasts=lasts, groups=tuple(groups) if groups is not None else (group(),), pods=pods, **filled)


_ENDS = frozenset(("mlrun-job", "spark", "dask", "mpi", "pipeline", "batch-job"))
"""Kinds of works that end: after 10 minutes by default."""


def scenario(*expectations: Mapping[str, Any], **fields: Any) -> Scenario:
    """Return a scenario of an hour with a job called ``train``; fields replace its own."""
    document: dict[str, Any] = {
        "description": "a test",
        "lasts": "1h",
        "works": {"train": {"kind": "mlrun-job"}},
        "expectations": [*expectations],
    } | fields
    document["works"] = {
        name: ({"runsFor": "10m"} if work["kind"] in _ENDS else {}) | work for name, work in document["works"].items()
    }
    document.setdefault("arrivals", [{"work": work} for work in document["works"]])
    return Scenario.model_validate(document)


POOLS: dict[str, Any] = {
    "initial": {"role": "initial", "size": {"min": 2, "max": 2}, "instanceTypes": ["m6i.2xlarge"]},
    "workload": {"role": "workload", "size": {"min": 0, "max": 10}, "instanceTypes": ["m6i.2xlarge"]},
}
"""Pools of ``config`` by default."""


def config(pools: Mapping[str, Any] | None = None, **fields: Any) -> StackConfig:
    """Return the choices of a local development cluster; pools are added to, or replace, those of ``POOLS``."""
    document: dict[str, Any] = {
        "schemaVersion": 1,
        "environment": "dev",
        "cluster": {"kind": "local"},
        "pools": POOLS | dict(pools or {}),
        "namespaces": {"mlrun": {"coreServices": True}},
    } | fields
    return parse(document)


def verdicts(facts: Record, *expectations: Mapping[str, Any], **fields: Any) -> tuple[Verdict, ...]:
    """Return the verdicts on a record; ``config`` and ``costs`` among the fields, the rest is the scenario's."""
    choices, costs = fields.pop("config", None) or config(), fields.pop("costs", None)
    return judge(scenario(*expectations, **fields), facts, choices, costs)


def hints(facts: Record, expectation: Mapping[str, Any], **fields: Any) -> dict[str, str]:
    """Return the causes of the hints on one missed expectation by their path, most likely first."""
    (verdict,) = verdicts(facts, expectation, **fields)
    assert not verdict.is_met, verdict.measured
    found: dict[str, str] = {}
    for hint in verdict.hints:
        found.setdefault(hint.path, hint.cause)
    return found
