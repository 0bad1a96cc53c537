from collections import Counter
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest
from hypothesis import settings

from support.api import Api
from support.cluster import Cluster, eventually, pod, running_cluster

USUAL = 2
REHEARSED = 20
TIERS = ("unit", "engine", "control_plane")

# How long one example takes says how busy the machine is. All else stays as hypothesis has it here, or in CI.
settings.register_profile("patient", settings.default, deadline=None)
settings.load_profile("patient")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Offer the long form of the tests that kill and damage."""
    parser.addoption("--rehearse", action="store_true", help=f"Kill each run at {REHEARSED} moments instead of a few.")
    parser.addoption("--moments", type=int, metavar="COUNT", help="Kill each run at so many moments.")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give a test that asks for a ``moment`` fractions of a run's length."""
    if "moment" in metafunc.fixturenames:
        marker = metafunc.definition.get_closest_marker("moments")
        usual = REHEARSED if metafunc.config.getoption("--rehearse") else marker.args[0] if marker else USUAL
        count = metafunc.config.getoption("--moments") or usual
        moments = [(index + 0.5) / count for index in range(count)]
        metafunc.parametrize("moment", moments, ids=[f"at {moment:.0%}" for moment in moments])


def tier_of(item: pytest.Item) -> str:
    """Return the tier that a test's marker names; a test without one needs no program of the toolchain."""
    return next((tier for tier in TIERS[1:] if item.get_closest_marker(tier)), TIERS[0])


@pytest.hookimpl(tryfirst=True)  # before the groups are read
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run the quick tier first; keep the order inside each.

    In several processes it comes last: its many small tests fill the time in which one of them has nothing else to do.
    """
    if not config.getoption("--rehearse"):
        items[:] = [item for item in items if not item.get_closest_marker("rehearsal")]
    items.sort(key=lambda item: TIERS.index(tier_of(item)), reverse=hasattr(config, "workerinput"))
    for item in items:
        item.user_properties.append(("tier", tier_of(item)))
        if tier_of(item) != TIERS[0]:
            item.add_marker(pytest.mark.xdist_group(_sharing(item)))


def _sharing(item: pytest.Item) -> str:
    """Return what an expensive test shares with others, so that they run in one process and one after the other."""
    return "cluster" if "cluster" in getattr(item, "fixturenames", ()) else item.nodeid.partition("::")[0]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what ran in each tier, and how long it took."""
    tests, seconds = Counter[str](), Counter[str]()
    reports = [r for key in ("passed", "failed", "error", "skipped", "") for r in terminalreporter.stats.get(key, [])]
    for report in reports:
        tier = dict(getattr(report, "user_properties", ())).get("tier")
        if tier:
            tests[tier] += report.when == "call"
            seconds[tier] += report.duration
    for tier in TIERS:
        terminalreporter.write_line(f"tier {tier.replace('_', ' ')}: {tests[tier]} tests, {seconds[tier]:.0f} s")


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
        # For up to 30 s after the first `up` the API server does not know by what it shall judge: decision 11.
        eventually(lambda: "paramKind" not in api.create(pod("probe"), dryRun="All").message)
        yield running


@pytest.fixture(autouse=True)
def no_pods_left(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    if "cluster" in request.fixturenames:
        running: Cluster = request.getfixturevalue("cluster")
        running.kubectl("delete", "pods", "--all", "-n", "mlrun", "--wait", "--grace-period=0", "--force")
