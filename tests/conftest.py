import argparse
import gc
import os
import signal
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path

import pytest
from hypothesis import settings

from support.api import Api
from support.cluster import Cluster, pod, running_cluster

USUAL = 1
KILLS = 20
TIERS = ("unit", "engine", "control_plane")
COMMANDS = {"full": "make test-all", "kills": "make kills", "proofs": "make proofs"}
"""The command that runs the tests of a marker, which others leave out."""
ASKED_FOR = ("kills", "proofs")
"""Markers whose tests run only with the option of the same name."""
TRIALS = (Path(__file__).parent / "emulator_tests", Path(__file__).parent / "tools" / "benchmarks")
"""Tests of what only tests and measurements use: `make test` leaves them out, for only a change there needs them."""
LEFT_OUT = pytest.StashKey[Counter[str]]()
"""How many tests did not run, by marker."""

# How long one example takes says how busy the machine is. All else stays as hypothesis has it here, or in CI.
settings.register_profile("patient", settings.default, deadline=None)
settings.load_profile("patient")

# Collected tests are hundreds of thousands of objects that live to the end: each collection would walk them.
gc.set_threshold(100_000, 50, 50)

# A shell starts background commands with Ctrl-C ignored, and the programs that tests start and interrupt inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# gRPC starts its threads again in a fork, and aborts it when `subprocess` closes their files before the program starts.
# Read when grpc is imported: https://github.com/grpc/grpc/blob/master/doc/fork_support.md
os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "false"

# Tests read the engine's own output; those about the summary unset it.
os.environ["IGZ_CLUSTERS_VERBOSE"] = "1"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Offer the long form of the tests that kill and damage, and of those that rehearse many cases."""
    parser.addoption("--kills", action="store_true", help=f"Kill each run at {KILLS} moments instead of a few.")
    parser.addoption("--proofs", action="store_true", help="Rehearse all cases of a proof instead of a few.")
    parser.addoption("--part", type=_part, metavar="K/N", help="Run the K-th of N parts of the tests.")
    parser.addoption("--moments", type=int, metavar="COUNT", help="Kill each run at so many moments.")


def _part(text: str) -> tuple[int, int]:
    """Return number and count of ``2/4``."""
    number, _, count = text.partition("/")
    if not (number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
        raise argparse.ArgumentTypeError(f"{text!r} does not name a part of the tests: write K/N, for example 2/4")
    return int(number), int(count)


def pytest_configure(config: pytest.Config) -> None:
    config.stash[LEFT_OUT] = Counter()
    config.pluginmanager.register(_LeftOut(config), "left-out")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return three workers for two cores: tests of clusters wait a third of their time.

    `taskset` and containers may give this process fewer cores than there are.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return cores + cores // 2


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give a test that asks for a ``moment`` fractions of a run's length.

    The one in the middle belongs to `make test`, the others to `make test-all`.
    """
    if "moment" in metafunc.fixturenames:
        marker = metafunc.definition.get_closest_marker("moments")
        usual = KILLS if metafunc.config.getoption("--kills") else marker.args[0] if marker else USUAL
        count = metafunc.config.getoption("--moments") or usual
        moments = [(index + 0.5) / count for index in range(count)]
        params = [
            pytest.param(moment, id=f"at {moment:.0%}", marks=[] if index == count // 2 else pytest.mark.full)
            for index, moment in enumerate(moments)
        ]
        metafunc.parametrize("moment", params)


def tier_of(item: pytest.Item) -> str:
    """Return the tier that a test's marker names; a test without one needs no program of the toolchain."""
    return next((tier for tier in TIERS[1:] if item.get_closest_marker(tier)), TIERS[0])


@pytest.hookimpl(tryfirst=True)  # before the groups are read
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run the quick tier first; keep the order inside each.

    In several processes it comes last: its many small tests fill the time in which one of them has nothing else to do.
    """
    left = [marker for marker in ASKED_FOR if not config.getoption(f"--{marker}")]
    config.hook.pytest_deselected(items=[item for item in items if any(map(item.get_closest_marker, left))])
    items[:] = [item for item in items if not any(map(item.get_closest_marker, left))]
    items.sort(key=lambda item: TIERS.index(tier_of(item)), reverse=hasattr(config, "workerinput"))
    for item in items:
        if any(folder in item.path.parents for folder in TRIALS):
            item.add_marker(pytest.mark.full)
        item.user_properties.append(("tier", tier_of(item)))
        if not item.get_closest_marker("xdist_group"):
            item.add_marker(pytest.mark.xdist_group(_sharing(item)))
    if part := config.getoption("--part"):
        items[:] = [item for item in items if _is_in(part, item)]


def _is_in(part: tuple[int, int], item: pytest.Item) -> bool:
    """Return whether a test belongs to a part; what shares an expensive thing belongs to one."""
    number, count = part
    group = item.get_closest_marker("xdist_group")
    assert group
    return zlib.crc32(group.args[0].encode()) % count == number - 1


def _sharing(item: pytest.Item) -> str:
    """Return what a test shares with others, so that they run in one process and one after the other.

    That is the local cluster; or what a file makes once, or once for each parameter of its own; or nothing, if an
    expensive test uses nothing that its file makes. The cheap ones of a file share what its process has imported.
    """
    if "cluster" in getattr(item, "fixturenames", ()):
        return "cluster"
    fixtures = (
        [found[-1] for found in item._fixtureinfo.name2fixturedefs.values()]
        if isinstance(item, pytest.Function)
        else []
    )
    if tier_of(item) != TIERS[0] and "module" not in {fixture.scope for fixture in fixtures}:
        return item.nodeid.replace("::", " ")  # reports split names there
    call = getattr(item, "callspec", None)
    scopes = call._arg2scope.items() if call else ()
    own = [f"{name} {call.indices[name]}" for name, scope in scopes if scope.value == "module"]
    return ", ".join([item.nodeid.partition("::")[0], *own])


class _LeftOut:
    """Counts what is left out, also in the processes of pytest-xdist."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        for item in items:
            marker = next((name for name in reversed(COMMANDS) if item.get_closest_marker(name)), None)
            if marker:
                self._config.stash[LEFT_OUT][marker] += 1

    def pytest_sessionfinish(self) -> None:
        if hasattr(self._config, "workeroutput"):
            self._config.workeroutput["left_out"] = dict(self._config.stash[LEFT_OUT])

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: object) -> None:
        if left_out := getattr(node, "workeroutput", {}).get("left_out"):
            self._config.stash[LEFT_OUT] = Counter(left_out)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say what ran in each tier, how long it took, and which command runs what did not."""
    tests, seconds = Counter[str](), Counter[str]()
    reports = [r for key in ("passed", "failed", "error", "skipped", "") for r in terminalreporter.stats.get(key, [])]
    for report in reports:
        tier = dict(getattr(report, "user_properties", ())).get("tier")
        if tier:
            tests[tier] += report.when == "call"
            seconds[tier] += report.duration
    for tier in TIERS:
        terminalreporter.write_line(f"tier {tier.replace('_', ' ')}: {tests[tier]} tests, {seconds[tier]:.0f} s")
    for marker, count in sorted(config.stash[LEFT_OUT].items()):
        terminalreporter.write_line(f"left out: {count} tests; `{COMMANDS[marker]}` runs them")


@pytest.fixture(scope="session", autouse=True)
def _on_a_day_of_its_own() -> Iterator[None]:
    """Judge by the rules on one day for ever: a version of Kubernetes that ends must not end the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("policies.settings.today", lambda: date(2026, 11, 21))
        yield


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """The repository's own local stack, brought up by the command that the README names."""
    data: Path = tmp_path_factory.mktemp("data")
    with running_cluster(data) as running:
        api = Api(running.kubeconfig())
        # `up` waits until the API server has found the parameters of its admission policies: decision 11.
        assert "paramKind" not in api.create(pod("probe"), dryRun="All").message
        yield running


@pytest.fixture(autouse=True)
def no_pods_left(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    if "cluster" in request.fixturenames:
        running: Cluster = request.getfixturevalue("cluster")
        # Most tests leave none, which a request shows in the tenth part of the time of a kubectl.
        if running.read("/api/v1/namespaces/mlrun/pods?limit=1")["items"]:
            running.kubectl("delete", "pods", "--all", "-n", "mlrun", "--wait", "--grace-period=0", "--force")
