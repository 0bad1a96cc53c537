from collections.abc import Iterator

import pytest

from emulators.azure.client import Emulator, running
from support.aks_account import Account, account


@pytest.fixture(scope="session")
def shared_az() -> Iterator[Emulator]:
    with running() as emulator:
        yield emulator


@pytest.fixture(scope="session")
def shared_home(shared_az: Emulator) -> Account:
    return account(shared_az)


@pytest.fixture
def az(shared_az: Emulator) -> Iterator[Emulator]:
    """A server that other tests use too: they leave things there, but no faults."""
    yield shared_az
    shared_az.set_faults()
    shared_az.set_scale(0)


@pytest.fixture
def home(az: Emulator, shared_home: Account) -> Account:
    """An account in which other tests work too: they leave clusters there, but no faults."""
    assert az
    return shared_home


@pytest.fixture
def own(az: Emulator) -> Account:
    """An account without other users."""
    return account(az)
