from collections.abc import Iterator

import pytest

from support.azure_resources import SUBSCRIPTION, Stack
from workbench.clouds.azure.double.client import Double, running
from workbench.clouds.azure.double.provider import AzureDouble
from workbench.clouds.azure.double.resources.connection import ADDRESS_VARIABLE
from workbench.clouds.pace import PACE_VARIABLE


@pytest.fixture(scope="module")
def arm() -> Iterator[Double]:
    """A server for the tests of a module; each cleans up behind itself."""
    with running() as double:
        yield double


@pytest.fixture
def provider(arm: Double, monkeypatch: pytest.MonkeyPatch) -> AzureDouble:
    """The provider as the engine configures it, in a hurry."""
    monkeypatch.setenv(ADDRESS_VARIABLE, arm.address)
    monkeypatch.setenv(PACE_VARIABLE, "0.0002")
    provider = AzureDouble()
    provider.configure({"subscriptionId": SUBSCRIPTION})
    return provider


@pytest.fixture
def stack(provider: AzureDouble, arm: Double) -> Iterator[Stack]:
    stack = Stack(provider)
    yield stack
    arm.set_faults()
    stack.delete_all()
