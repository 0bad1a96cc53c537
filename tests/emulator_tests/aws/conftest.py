from collections.abc import Iterator

import pytest

from emulators.aws.client import Emulator, running
from support.aws import Network, network


@pytest.fixture(scope="session")
def shared_aws() -> Iterator[Emulator]:
    with running() as emulator:
        yield emulator


@pytest.fixture
def aws(shared_aws: Emulator) -> Iterator[Emulator]:
    """A server that other tests use too: they leave things there, but no faults."""
    yield shared_aws
    shared_aws.set_faults()
    shared_aws.set_scale(0)
    shared_aws.set_circumstances()
    shared_aws.stand(None)


@pytest.fixture
def net(aws: Emulator) -> Network:
    return network(aws)
