"""The CPU that pods use for traffic: the CPU of the scenario's events, divided as a Service divides requests."""

import math
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

from components.contract.quantities import parse_quantity
from workbench.rehearsal.amounts import cpu_limit
from workbench.rehearsal.cluster.simulated import Closing, PodUsage, SimulatedCluster
from workbench.rehearsal.cluster.tuning import is_sync_late, sync_period
from workbench.rehearsal.play.chronicle import Chronicle
from workbench.rehearsal.scenario.durations import duration_text


class Traffic:
    """What the pods of units that scale use now; may be called from any thread.

    Parameters
    ----------
    cluster, chronicle
        The cluster, whose API server queries the usage, and what is known about its pods.
    """

    def __init__(self, cluster: SimulatedCluster, chronicle: Chronicle) -> None:
        self._cluster = cluster
        self._chronicle = chronicle
        self._needs: dict[str, Decimal] = {}
        """CPU that the traffic of each unit needs, in cores."""
        self._server: Closing | None = None

    def serve(self, units: Sequence[str]) -> None:
        """Offer the usage of these units, if any, to HorizontalPodAutoscalers; they have no traffic yet."""
        if units:
            self._needs = dict.fromkeys(units, Decimal(0))
            self._server = self._cluster.serve_metrics(self.usages)

    def change(self, unit: str, cpu: str) -> None:
        """Set the CPU that the traffic of a unit needs from now on."""
        self._needs[unit] = parse_quantity(cpu)

    def usages(self, namespace: str, selector: Mapping[str, str]) -> Iterator[PodUsage]:
        """Yield what the running pods of a namespace (empty: of all) with some labels use."""
        for unit, need in self._needs.items():
            pods = [each for each in self._chronicle.of_unit(unit) if each.is_running]
            for pod in pods:
                if namespace in ("", pod.namespace) and selector.items() <= pod.labels.items():
                    used = min(need / len(pods), cpu_limit(pod.spec))
                    yield PodUsage(pod.namespace, pod.name, pod.labels, math.ceil(used * 1000))

    def close(self) -> None:
        """Stop answering."""
        if self._server is not None:
            self._server.close()

    @property
    def assumptions(self) -> Iterator[str]:
        """The assumptions, as sentences; none without units that scale."""
        if not self._needs:
            return
        pace = self._cluster.pace
        yield (
            "The CPU that traffic needs is the scenario's. It is divided evenly among the running pods of a unit, each "
            "up to its limit, and a new pod takes its share at once."
        )
        if is_sync_late(pace):
            every = duration_text(pace.simulated(sync_period(pace)))
            yield f"HorizontalPodAutoscalers sync every {every} instead of 15 s, the shortest time at this speed."
