from collections.abc import Iterator

import pytest

from support.aks_account import Account, account
from workbench.clouds.azure.double.client import Double, running


@pytest.fixture(scope="session")
def shared_az() -> Iterator[Double]:
    with running() as double:
        yield double


@pytest.fixture(scope="session")
def shared_home(shared_az: Double) -> Account:
    return account(shared_az)


@pytest.fixture
def az(shared_az: Double) -> Iterator[Double]:
    """A server that other tests use too: they leave things there, but no faults."""
    yield shared_az
    shared_az.set_faults()
    shared_az.set_scale(0)


@pytest.fixture
def home(az: Double, shared_home: Account) -> Account:
    """An account in which other tests work too: they leave clusters there, but no faults."""
    assert az
    return shared_home


@pytest.fixture
def own(az: Double) -> Account:
    """An account in which nobody else works."""
    return account(az)
