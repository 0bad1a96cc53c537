from collections.abc import Iterator
from pathlib import Path

import pytest

from support.cluster import Cluster, running_cluster


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
