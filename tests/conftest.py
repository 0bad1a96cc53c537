from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.cluster import Cluster, running_cluster

TIERS = ("unit", "engine", "control_plane")


def tier_of(item: pytest.Item) -> str:
    """Return the tier that a test's marker names; a test without one needs no program of the toolchain."""
    return next((tier for tier in TIERS[1:] if item.get_closest_marker(tier)), TIERS[0])


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the quick tier first; keep the order inside each."""
    items.sort(key=lambda item: TIERS.index(tier_of(item)))
    for item in items:
        item.user_properties.append(("tier", tier_of(item)))


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


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """The repository's own local stack, brought up by the command that the README names."""
    data: Path = tmp_path_factory.mktemp("data")
    with running_cluster(data) as running:
        yield running


@pytest.fixture(autouse=True)
def no_pods_left(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    if "cluster" in request.fixturenames:
        running: Cluster = request.getfixturevalue("cluster")
        running.kubectl("delete", "pods", "--all", "-n", "mlrun", "--wait", "--grace-period=0", "--force")
