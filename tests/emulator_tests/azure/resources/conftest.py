from collections.abc import Iterator

import pytest

from emulators.azure.client import Emulator, running
from emulators.azure.provider import AzureEmulator
from emulators.azure.resources.connection import ADDRESS_VARIABLE
from emulators.core.polling import PACE_VARIABLE
from support.azure_resources import SUBSCRIPTION, Stack


@pytest.fixture(scope="module")
def arm() -> Iterator[Emulator]:
    """A server for the tests of a module; each cleans up behind itself."""
    with running() as emulator:
        yield emulator


@pytest.fixture
def provider(arm: Emulator, monkeypatch: pytest.MonkeyPatch) -> AzureEmulator:
    """The provider as the engine configures it, in a hurry."""
    monkeypatch.setenv(ADDRESS_VARIABLE, arm.address)
    monkeypatch.setenv(PACE_VARIABLE, "0.0002")
    provider = AzureEmulator()
    provider.configure({"subscriptionId": SUBSCRIPTION})
    return provider


@pytest.fixture
def stack(provider: AzureEmulator, arm: Emulator) -> Iterator[Stack]:
    stack = Stack(provider)
    yield stack
    arm.set_faults()
    stack.delete_all()
