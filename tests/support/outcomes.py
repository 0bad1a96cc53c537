"""Outcomes of rehearsals, made by hand: a night of training on a small cluster, and variants of it."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Final

from support.rehearsal_site import LASTS, MINUTE, RECLAIM, START, UNFIT, Site, groups
from workbench.rehearsal.advice.advice import Advice
from workbench.rehearsal.advice.edits import Edit
from workbench.rehearsal.outcome import Cost, Costs, Outcome
from workbench.rehearsal.record import Happening, PodEnd, Record, Refusal
from workbench.rehearsal.scenario.durations import duration_text
from workbench.rehearsal.verdicts.verdict import Hint, Verdict

PRICES: Final = "On-demand prices of eu-west-1 of 2026-11-02, spot at its mean of the 30 days before."
ASSUMPTIONS: Final = (
    "A new node is ready 2m after the autoscaler asks for it; --node-start changes it.",
    "DaemonSets take 180m CPU and 260Mi of every node, as those of the stack request.",
    "Images are present on every node: no time passes for pulls.",
)
NOTES: Final = ("Memory pressure, disks and networks are not simulated: kwok's nodes run no containers.",)


@cache
def record(gpu_max: int = 2) -> Record:
    """Return the record of a night: notebooks, training on GPUs, Spark on spot nodes, functions that scale out."""
    site = Site(groups(gpu_max))
    for index, name in enumerate(("mlrun-api", "mlrun-db", "nuclio-dashboard", "grafana", "keycloak", "minio")):
        site.run(name, "core-service", "", (900, 3_500, 0), -600.0, None, f"initial-{index % 2}")
    for index in range(4):
        site.run(f"model-{index}-x7k2p", "nuclio-function", "model", (900, 2_048, 0), 0.0, None, "workload", "ranking")
    for index in range(6):
        team = "vision"
        site.run(
            f"notebook-{index}-0", "notebook", "notebook", (1_500, 4_096, 0), index * 400.0, 4_800, "workload", team
        )
    for index in range(22):
        created = 600.0 + index * 48
        site.run(
            f"etl-exec-{index}", "spark", "etl", (1_900, 6_144, 0), created, 840 + index % 5 * 90, "workload", "speech"
        )
    lost = site.reclaim(("workload-1", "workload-2"), RECLAIM)
    for pod in sorted(lost, key=lambda each: each.name):
        if pod.work != "notebook":
            need = (pod.cpu_millis, pod.memory_mib, 0)
            back = RECLAIM + 6
            site.run(f"{pod.name}-again", pod.kind, pod.work, need, back, 840, "workload", pod.team, pod.uid)
    for index in range(14):
        created = 900.0 + index * 200
        site.run(f"train-{index}-worker", "mlrun-job", "train", (3_500, 16_384, 1), created, 1_560, "gpu", "vision")
    for index in range(6):
        name = f"model-{index + 4}-x7k2p"
        site.run(name, "nuclio-function", "model", (900, 2_048, 0), 4_200.0, None, "workload", "ranking")
    taken = ("workload-1", "workload-2")
    return Record(
        lasts=LASTS,
        speed=60.0,
        groups=tuple(site.groups),
        pods=tuple(site.pods),
        nodes=tuple(site.emptied()),
        refusals=(
            Refusal(1_200.0, "legacy", "legacy-0", "Pod", "legacy-0", "HG-01: hostPath volumes are not allowed"),
        ),
        happenings=(
            Happening(RECLAIM - 120, "spot-reclaim", "gave notice to workload-1 and workload-2", taken),
            Happening(RECLAIM, "spot-reclaim", "took workload-1 and workload-2", taken),
            Happening(4_200.0, "scale", "scaled model from 4 to 10 replicas"),
        ),
        units={"train": tuple(f"train-{index}" for index in range(14))},
        assumptions=ASSUMPTIONS,
    )


def costs(of: Record) -> Costs:
    """Return what the nodes cost, at invented prices."""
    usd = {"initial": 0.428, "workload": 0.161, "gpu": 1.353}
    hours: dict[str, float] = {each.pool: 0.0 for each in of.groups}
    for node in of.nodes:
        end = of.lasts if node.gone is None else node.gone
        hours[node.pool] += max(0.0, end - max(node.created, 0.0)) / 3_600
    by_pool = {pool: Cost(node_hours=of_pool, usd=of_pool * usd.get(pool, 0.2)) for pool, of_pool in hours.items()}
    lifecycles = {each.pool: each.lifecycle for each in of.groups}

    def total(pools: Sequence[str], share: float = 1.0) -> Cost:
        chosen = [by_pool[pool] for pool in pools]
        money = sum(each.usd for each in chosen) * share
        return Cost(node_hours=sum(each.node_hours for each in chosen) * share, usd=money)

    kinds = {kind: [pool for pool in by_pool if lifecycles[pool] == kind] for kind in sorted(set(lifecycles.values()))}
    shares = {"vision": 0.46, "speech": 0.17, "ranking": 0.12, "": 0.25}
    return Costs(
        total=total(list(by_pool)),
        by_pool=by_pool,
        by_lifecycle={kind: total(pools) for kind, pools in kinds.items()},
        by_team={team: total(list(by_pool), share) for team, share in shares.items()},
        prices=PRICES,
    )


LONG_WAIT: Final = Hint(
    cause="Pool gpu had its largest size, 2 nodes, while up to 9 pods waited for a GPU.",
    action="Raise the largest size of pool gpu from 2 to 6.",
    path="pools.gpu.size.max",
)
ON_SPOT: Final = Hint(
    cause="The pods of notebook ran on spot nodes of pool workload, which the cloud took back.",
    action="Keep notebooks off spot nodes: set their preemption mode to prevent.",
    path="works.notebook.mode",
)
SECOND: Final = Hint(
    cause="Pool workload has spot nodes only.", action="Add an on-demand pool of role workload.", path="pools"
)
_MET: Final = (
    ("train lands on role gpu", "14 of 14 pods"),
    ("notebook never on role gpu", "none of 6 pods"),
    ("etl restarted within 5m", "{etl} of {etl} lost pods, longest 3m4s"),
    ("model waits at most 5m", "10 of 10 pods, longest wait 2m15s"),
    ("legacy refused because HG-01", "1 of 1 units"),
    ("core services unmoved", "6 of 6 pods"),
    ("at most 30 USD", "{usd:.2f} USD"),
)


def verdicts(of: Record) -> tuple[Verdict, ...]:
    """Return nine verdicts; the last but one is missed with few GPU nodes, the last always."""
    lost = [pod for pod in of.pods if pod.end is PodEnd.LOST]
    notebooks = tuple(pod.name for pod in lost if pod.work == "notebook")
    etl = sum(pod.work == "etl" for pod in lost)
    waits = {pod.name: (of.lasts if pod.started is None else pod.started) - pod.created for pod in of.of_work("train")}
    slow = tuple(name for name, wait in waits.items() if wait > 40 * MINUTE)
    numbers = {"etl": etl, "usd": costs(of).total.usd}
    met = (
        Verdict(number=at, expectation=text, is_met=True, measured=seen.format(**numbers))
        for at, (text, seen) in enumerate(_MET)
    )
    return (
        *met,
        Verdict(
            number=7,
            expectation="train waits at most 40m",
            is_met=not slow,
            measured=f"{14 - len(slow)} of 14 pods, longest wait {duration_text(max(waits.values()))}",
            pods=slow[:5],
            reason=UNFIT if slow else "",
            hints=(LONG_WAIT,) if slow else (),
            may_vary="Waits vary by up to 10s between two runs: the autoscaler looks every 10s.",
        ),
        Verdict(
            number=8,
            expectation="notebook survives",
            is_met=False,
            measured=f"{len(notebooks)} of 6 pods lost",
            pods=notebooks,
            hints=(ON_SPOT, SECOND),
        ),
    )


def night(stack: str = "prod", *, gpu_max: int = 2) -> Outcome:
    """Return the outcome of the night; two expectations of nine are missed with two GPU nodes, one with more."""
    of = record(gpu_max)
    return Outcome(
        stack=stack,
        scenario="training-night",
        description="Nightly training on GPUs, Spark on spot nodes, and functions that scale out",
        record=of,
        verdicts=verdicts(of),
        costs=costs(of),
        notes=NOTES,
    )


def calm(stack: str = "prod") -> Outcome:
    """Return an outcome that meets all its expectations, without prices."""
    of = replace(record(6), happenings=(), refusals=())
    unpriced = Cost(node_hours=31.2, usd=0, unpriced=("g5.2xlarge",))
    return Outcome(
        stack=stack,
        scenario="notebooks",
        description="Six people open notebooks",
        record=of,
        verdicts=tuple(each for each in verdicts(of) if each.is_met),
        costs=Costs(total=unpriced, by_pool={"gpu": unpriced}, by_lifecycle={"on-demand": unpriced}, by_team={}),
    )


def skipped(stack: str = "dev") -> Outcome:
    """Return the outcome of a scenario that does not apply."""
    return Outcome(
        stack=stack,
        scenario="training-night",
        description="Nightly training on GPUs, Spark on spot nodes, and functions that scale out",
        skipped="it has no pool of role gpu",
    )


def lost(stack: str = "dev") -> Outcome:
    """Return the outcome of a scenario whose control plane failed."""
    return Outcome(
        stack=stack,
        scenario="notebooks",
        description="Six people open notebooks",
        lost="etcd has ended.\nThe end of its log:\n  no space left",
    )


def hostile(text: str) -> Outcome:
    """Return an outcome that has the text wherever a stack file, a scenario or the cluster may choose it."""
    of = night()
    assert of.record is not None
    assert of.costs is not None
    pods = tuple(
        replace(
            each,
            name=f"{text}{at}",
            work=each.work and text,
            kind=each.work and text,
            team=text,
            end_cause=text,
            unit=text,
            reasons=tuple(replace(reason, text=text) for reason in each.reasons),
        )
        for at, each in enumerate(of.record.pods)
    )
    record = replace(
        of.record,
        pods=pods,
        groups=tuple(replace(each, name=text, instance_type=text) for each in of.record.groups),
        nodes=tuple(replace(each, zone=text, gone_cause=each.gone_cause and text) for each in of.record.nodes),
        refusals=tuple(replace(each, work=text, name=text, message=text, kind=text) for each in of.record.refusals),
        happenings=tuple(replace(each, event=text, text=text) for each in of.record.happenings),
        assumptions=(text,),
    )
    hint = Hint(cause=text, action=text, path=text)
    verdicts = tuple(
        replace(each, expectation=text, measured=text, pods=(text,), reason=text, hints=(hint,), may_vary=text)
        for each in of.verdicts
    )
    costs = replace(of.costs, by_team={text: of.costs.total}, prices=text)
    return replace(
        of, stack=text, scenario=text, description=text, record=record, verdicts=verdicts, costs=costs, notes=(text,)
    )


def large(pods: int = 10_000, nodes: int = 1_000) -> Outcome:
    """Return an outcome with many pods on many nodes of pool workload that come and go."""
    of = night()
    assert of.record is not None
    node = next(each for each in of.record.nodes if each.pool == "workload")
    pod = next(each for each in of.record.pods if each.work)
    many = tuple(
        replace(node, name=f"many-{at}", created=at * 5.0, ready=at * 5.0 + START, gone=at * 5.0 + 3_000)
        for at in range(nodes)
    )
    crowd = tuple(
        replace(pod, name=f"pod-{at}", uid=f"many-{at}", work=f"work-{at % 9}", node=(on := many[at % nodes]).name,
                created=on.created + at % 200, scheduled=(start := on.created + START + at % 1_000),
                started=start + 3, ended=start + 600)
        for at in range(pods)
    )  # fmt: skip
    groups = tuple(replace(each, max=each.max * 200) for each in of.record.groups)
    return replace(of, record=replace(of.record, pods=crowd, nodes=many, groups=groups))


def empty() -> Outcome:
    """Return an outcome of a scenario in which nothing happened, on a stack without pools."""
    return Outcome(
        stack="bare", scenario="nothing", description="Nothing", record=Record(lasts=60, speed=60, groups=())
    )


def advice(file: str = "Pulumi.prod.yaml") -> Advice:
    """Return advice for the night: more GPU nodes, which meet one of two missed expectations."""
    patch = (
        f"--- a/{file}\n+++ b/{file}\n@@ -40 +40 @@\n"
        "-        size: { min: 0, max: 2 }\n+        size: { min: 0, max: 6 }\n"
    )
    edit = Edit(("pools", "gpu", "size", "max"), 6, why=LONG_WAIT.cause)
    refused = ("pools.gpu.size.max to 60: must be at most 50",)
    return Advice(
        edits=(edit,),
        before=night(),
        after=night(gpu_max=6),
        rehearsals=3,
        budget=12,
        patch=patch,
        unpatched="works.etl.mode of the scenario: allow: copy it",
        refused=refused,
    )
