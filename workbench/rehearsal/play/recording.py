"""Creates the record from what a chronicle saw."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from workbench.rehearsal.cluster.simulated import SimulatedCluster
from workbench.rehearsal.play import labels
from workbench.rehearsal.play.chronicle import Chronicle, final
from workbench.rehearsal.play.observed import ObservedNode, ObservedPod
from workbench.rehearsal.record import TAKEN, NodeRecord, PodEnd, PodRecord, Record
from workbench.rehearsal.scenario.durations import duration_text
from workbench.rehearsal.scenario.work import WorkKind
from workbench.rehearsal.settings import Pace

_Moment: TypeAlias = Callable[[float | None], float | None]
"""Returns the moment of the scenario at a tick; None if it is after the end."""


def record_of(
    chronicle: Chronicle,
    *,
    lasts: float,
    units: Mapping[str, Sequence[str]],
    teams: Mapping[str, str],
) -> Record:
    """Return the record of the scenario up to its end.

    Parameters
    ----------
    chronicle
        What was seen.
    lasts
        Length of the scenario; what happened later is left out.
    units
        Units of the scenario, by work.
    teams
        Team of each work.
    """
    cluster = chronicle.cluster

    def moment(tick: float | None) -> float | None:
        if tick is None:
            return None
        at = round(chronicle.clock.at(tick), 3)
        return at if at <= lasts else None

    # Watches still run, and add pods and nodes.
    pods = [_pod(each, teams, moment) for each in list(chronicle.pods.values()) if moment(each.created) is not None]
    nodes = [_node(each, moment) for each in list(chronicle.nodes.values()) if moment(each.created) is not None]
    return Record(
        lasts=lasts,
        speed=cluster.pace.speed,
        groups=tuple(cluster.groups),
        pods=tuple(sorted(pods, key=lambda each: (each.created, each.name))),
        nodes=tuple(sorted(nodes, key=lambda each: (each.created, each.name))),
        refusals=tuple(each for each in chronicle.refusals if each.at <= lasts),
        happenings=tuple(each for each in chronicle.happenings if each.at <= lasts),
        nights=tuple(each for each in chronicle.nights if each.begin <= lasts),
        units={work: tuple(names) for work, names in units.items()},
        assumptions=(*cluster.assumptions, *ASSUMPTIONS, *_of_jobs(pods, cluster.pace), *_of_failures(nodes, cluster)),
    )


ASSUMPTIONS: Final = (
    "Lost executors of Spark come back, lost MLRun jobs, steps of pipelines and Dask workers do not.",
    "A lost notebook comes back only if the scenario says when its user starts it again.",
    "An MPI job works while all its workers run; if it loses one, mpirun ends and the job fails.",
    "A reclaimed spot node gets no new pods after its notice, and its pods end with it; EKS may drain it earlier.",
    "A node that fails is noticed after 50 s, and its group replaces it after 10 minutes.",
    "A pod's container starts as soon as its node lets it; images take no time unless the node's start includes them.",
)
"""What this package assumes, as sentences of the report."""


_JOB_BACKOFF: Final = 10.0
"""Real seconds before a Job replaces the first pod that failed (kubernetes v1.36.3,
``pkg/controller/job/job_controller.go``, ``DefaultJobPodFailureBackOff``); a constant, which no flag changes."""


def _of_jobs(pods: Iterable[PodRecord], pace: Pace) -> Iterator[str]:
    failed = (PodEnd.FAILED, *TAKEN)
    if pace.speed > 1 and any(pod.kind == WorkKind.BATCH_JOB and pod.end in failed for pod in pods):
        yield (
            f"A Job replaces a failed or lost pod after at least {_JOB_BACKOFF:.0f} s of real time: here "
            f"{duration_text(pace.simulated(_JOB_BACKOFF))}. A lower speed shows how soon Jobs start again."
        )


def _of_failures(nodes: Iterable[NodeRecord], cluster: SimulatedCluster) -> Iterator[str]:
    """Yield what is assumed because of the age of failed nodes.

    The autoscaler treats a node that is not ready, and younger than 15 minutes of real time, as starting, with room for
    waiting pods (kubernetes/autoscaler 1959f5f6, ``clusterstate/clusterstate.go``, ``MaxNodeStartupTime``).
    """
    elastic = {group.name for group in cluster.groups if group.is_elastic}
    if cluster.pace.speed > 1 and any(node.gone_cause == "node-failure" and node.group in elastic for node in nodes):
        yield (
            "The autoscaler treats a failed node as one that starts, since it is new in real time, and adds no other "
            "until the failed one is removed. On a cluster it adds one as soon as pods wait."
        )


def _pod(observed: ObservedPod, teams: Mapping[str, str], moment: _Moment) -> PodRecord:
    ended = moment(observed.ended)
    seen = observed if ended is not None else replace(observed, ended=None)
    started = moment(observed.started)
    end = final(seen) if started is not None or ended is not None else PodEnd.WAITS
    work = observed.labels.get(labels.WORK, "")
    return PodRecord(
        name=observed.name,
        namespace=observed.namespace,
        uid=observed.uid,
        work=work,
        unit=observed.unit,
        team=teams.get(work, ""),
        kind=observed.kind,
        created=moment(observed.created) or 0.0,
        scheduled=moment(observed.scheduled),
        started=started,
        ended=ended,
        end=end,
        end_cause=observed.cause if ended is not None else "",
        node=observed.node,
        replaces=observed.replaces,
        reasons=tuple(replace(each, at=at) for each in observed.reasons if (at := moment(each.at)) is not None),
        cpu_millis=observed.amounts["cpu_millis"],
        memory_mib=observed.amounts["memory_mib"],
        gpus=observed.amounts["gpus"],
        spec=observed.spec,
    )


def _node(observed: ObservedNode, moment: _Moment) -> NodeRecord:
    facts, amounts = observed.facts, observed.allocatable
    gone = moment(observed.gone)
    return NodeRecord(
        name=observed.name,
        group=observed.group,
        pool=facts["pool"],
        role=facts["role"],
        lifecycle=facts["lifecycle"],
        zone=facts["zone"],
        instance_type=observed.instance_type,
        created=moment(observed.created) or 0.0,
        ready=moment(observed.ready),
        gone=gone,
        gone_cause=observed.cause if gone is not None else "",
        **amounts,
    )
