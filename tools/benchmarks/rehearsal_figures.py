"""What one run of the case ``rehearsal`` measured."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Run:
    """Figures of one run; seconds, CPU seconds and bytes.

    Parameters
    ----------
    nodes, pods
        Its size; ``pods`` are those that arrive at once.
    nodes_seconds
        From the creation of the first node until all are ready; in a rehearsal also until the cluster's own pods run.
    seconds
        From the creation of the first of the pods until the last one runs.
    wall, own_cpu, servers_cpu
        Until it is known that all pods run: real time, CPU of this process and of the control plane's processes.
    whole_wall, whole_own_cpu, whole_servers_cpu
        The same from the start of the process to its end; in a rehearsal with verdicts and page.
    own_peak, servers_peak
        Highest resident memory of this process, and of the control plane's processes together.
    verdicts, page, json
        How long judging and rendering took.
    page_bytes, json_bytes
        Sizes of the reports.
    other_pods
        Pods besides those that arrive: daemons and core services.
    """

    nodes: int
    pods: int
    nodes_seconds: float
    seconds: float
    wall: float
    own_cpu: float
    servers_cpu: float
    whole_wall: float
    whole_own_cpu: float
    whole_servers_cpu: float
    own_peak: int
    servers_peak: int
    verdicts: float = 0.0
    page: float = 0.0
    json: float = 0.0
    page_bytes: int = 0
    json_bytes: int = 0
    other_pods: int = 0
