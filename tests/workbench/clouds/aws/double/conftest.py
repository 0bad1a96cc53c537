from collections.abc import Iterator

import pytest

from support.aws import Network, network
from workbench.clouds.aws.double.client import Double, running


@pytest.fixture(scope="session")
def shared_aws() -> Iterator[Double]:
    with running() as double:
        yield double


@pytest.fixture
def aws(shared_aws: Double) -> Iterator[Double]:
    """A server that other tests use too: they leave things there, but no faults."""
    yield shared_aws
    shared_aws.set_faults()
    shared_aws.set_scale(0)


@pytest.fixture
def net(aws: Double) -> Network:
    return network(aws)
