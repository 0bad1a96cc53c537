"""Rehearsals of large stacks, over a loop that creates as many nodes and pods on a bare control plane."""

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from tools.benchmarks.arena import Arena
from tools.benchmarks.findings import Aim, Finding, Value
from tools.benchmarks.pairs import Say, estimate
from tools.benchmarks.rehearsal_figures import Run
from workbench.system.errors import UserError
from workbench.system.paths import PROJECT_ROOT

SIZES: Final = ((100, 1_000), (1_000, 10_000))
"""Nodes and pods."""
ROUNDS: Final = 1
"""The large size takes several minutes on two cores."""
TIMEOUT: Final = 45 * 60.0
"""Seconds that one run may take."""

SHARE: Final = Aim("ours of wall", 0.20, "our CPU over the wall time of a rehearsal")

PUBLISHED: Final = (
    ("kwok: nodes or pods created", "20 a second", "kubernetes-sigs/kwok, `README.md`"),
    (
        "kwok: 2,000 nodes in 120 s, 5,000 pods of one node in 240 s",
        "at least 17 and 21 a second",
        "kubernetes-sigs/kwok 046df6de, `test/e2e/benchmark.go`",
    ),
    (
        "scheduler_perf, SchedulingBasic, 5,000 nodes, 10,000 pods",
        "at least 680 a second",
        "kubernetes/kubernetes 008b3652, `test/integration/scheduler_perf/misc/performance-config.yaml`",
    ),
)
"""Figures that others publish: what, how many, and where. Their machines are not ours."""

What = Literal["floor", "rehearsal"]


@dataclass(frozen=True)
class Pair:
    """Runs of one size, a floor and a rehearsal for each round."""

    floor: tuple[Run, ...]
    rehearsal: tuple[Run, ...]


def rehearsal(arena: Arena, rounds: int | None, say: Say) -> list[Finding]:
    """Measure a floor and a rehearsal of each size in turn."""
    pairs = []
    for nodes, pods in SIZES:
        found: dict[What, list[Run]] = {"floor": [], "rehearsal": []}
        for turn in range(1, (rounds or ROUNDS) + 1):
            for what, runs in found.items():
                say(f"{what}, {nodes:,} nodes, {pods:,} pods, round {turn} of {rounds or ROUNDS}")
                runs.append(_measured(arena, what, nodes, pods))
        pairs.append(Pair(tuple(found["floor"]), tuple(found["rehearsal"])))
    return [*lines(pairs), *(Finding(what, {"published": how, "source": where}) for what, how, where in PUBLISHED)]


def _measured(arena: Arena, what: What, nodes: int, pods: int) -> Run:
    command = [sys.executable, "-m", "tools.benchmarks.rehearsal_run", what, str(nodes), str(pods)]
    try:
        run = subprocess.run(
            command, cwd=PROJECT_ROOT, env=arena.environment, capture_output=True, text=True, check=False,
            timeout=TIMEOUT,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise UserError(f"The {what} of {nodes} nodes took longer than {TIMEOUT:.0f} s.") from None
    if run.returncode:
        raise UserError(f"The {what} of {nodes} nodes failed:\n{run.stderr.strip()}")
    return Run(**json.loads(run.stdout))


def lines(pairs: Sequence[Pair]) -> list[Finding]:
    """Return the lines of each size, smallest first, and those of the growth between the first and the last."""
    return [
        *(_rates(pair) for pair in pairs),
        *(_shares(pair) for pair in pairs),
        *(_memory(pair) for pair in pairs),
        *(_reports(pair) for pair in pairs),
        _growth(pairs[0], pairs[-1]),
    ]


def _size(pair: Pair) -> str:
    first = pair.rehearsal[0]
    return f"{first.nodes:,} nodes, {first.pods:,} pods"


def _rates(pair: Pair) -> Finding:
    rates = [[run.pods / run.seconds for run in runs] for runs in (pair.rehearsal, pair.floor)]
    values: dict[str, Value] = {
        "pods/s over floor": estimate([own / base for own, base in zip(*rates, strict=True)]),
        "pods/s": " / ".join(f"{estimate(each).median:.0f}" for each in rates),
        "control plane's CPU ms a pod": _both(pair, lambda run: 1000 * run.servers_cpu / run.pods, "{:.0f}"),
        "s until nodes": _both(pair, lambda run: run.nodes_seconds, "{:.0f}"),
        "other pods": pair.rehearsal[0].other_pods,
    }
    return Finding(f"{_size(pair)} / floor", values)


def _shares(pair: Pair) -> Finding:
    runs = pair.rehearsal
    values: dict[str, Value] = {
        SHARE.value: estimate([run.whole_own_cpu / run.whole_wall for run in runs]),
        "while pods start": estimate([run.own_cpu / run.wall for run in runs]),
        "ours of all CPU": estimate(
            [run.whole_own_cpu / (run.whole_own_cpu + run.whole_servers_cpu) for run in runs],
        ),
        "our CPU s": _both(pair, lambda run: run.whole_own_cpu, "{:.1f}"),
        "control plane's CPU s": _both(pair, lambda run: run.whole_servers_cpu, "{:.0f}"),
        "wall s": _both(pair, lambda run: run.whole_wall, "{:.0f}"),
    }
    return Finding(f"{_size(pair)}, shares", values, SHARE)


def _memory(pair: Pair) -> Finding:
    values: dict[str, Value] = {
        "our MB": _both(pair, lambda run: run.own_peak / 1e6, "{:.0f}"),
        "control plane's MB": _both(pair, lambda run: run.servers_peak / 1e6, "{:.0f}"),
    }
    return Finding(f"{_size(pair)}, memory / floor", values)


def _reports(pair: Pair) -> Finding:
    last = pair.rehearsal[-1]
    values: dict[str, Value] = {
        "verdicts s": f"{last.verdicts:.2f}",
        "page s": f"{last.page:.2f}",
        "page MB": f"{last.page_bytes / 1e6:.1f}",
        "JSON s": f"{last.json:.2f}",
        "JSON MB": f"{last.json_bytes / 1e6:.1f}",
    }
    return Finding(f"{_size(pair)}, reports", values)


def _growth(small: Pair, large: Pair) -> Finding:
    """Compare two sizes: 1.00 is a cost that grows as the number of pods does."""
    turns = list(zip(small.rehearsal, large.rehearsal, strict=True))
    values: dict[str, Value] = {
        "pods/s": estimate([(b.pods / b.seconds) / (a.pods / a.seconds) for a, b in turns]),
        "our CPU a pod": estimate([(b.own_cpu / b.pods) / (a.own_cpu / a.pods) for a, b in turns]),
        "control plane's CPU a pod": estimate([(b.servers_cpu / b.pods) / (a.servers_cpu / a.pods) for a, b in turns]),
        "our KB for one more pod": f"{_more(turns, lambda run: run.own_peak):.0f}",
        "control plane's KB for one more pod": f"{_more(turns, lambda run: run.servers_peak):.0f}",
    }
    return Finding(f"{_size(large)} over {_size(small)}", values)


def _more(turns: Sequence[tuple[Run, Run]], figure: Callable[[Run], float]) -> float:
    """Return the kilobytes that a pod adds with its part of a node and of its daemons."""
    return estimate([(figure(b) - figure(a)) / (b.pods - a.pods) / 1e3 for a, b in turns]).median


def _both(pair: Pair, figure: Callable[[Run], float], form: str) -> str:
    """Return the medians of rehearsal and floor."""
    medians = (estimate([figure(run) for run in runs]).median for runs in (pair.rehearsal, pair.floor))
    return " / ".join(form.format(each) for each in medians)
