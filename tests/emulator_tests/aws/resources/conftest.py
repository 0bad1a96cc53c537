from collections.abc import Iterator

import pytest

from emulators.aws.client import Emulator
from emulators.aws.provider import AwsEmulator
from emulators.aws.resources.connection import ADDRESS_VARIABLE
from emulators.core.polling import PACE_VARIABLE
from support.aws_resources import Stack

DEFAULT_TAGS = '{"tags": {"team": "ml"}}'


@pytest.fixture
def provider(aws: Emulator, monkeypatch: pytest.MonkeyPatch) -> AwsEmulator:
    """The provider as the engine configures it, in a hurry."""
    monkeypatch.setenv(ADDRESS_VARIABLE, aws.address)
    monkeypatch.setenv(PACE_VARIABLE, "0.0002")
    provider = AwsEmulator()
    provider.configure({"region": "eu-west-1", "allowedAccountIds": '["111122223333"]', "defaultTags": DEFAULT_TAGS})
    return provider


@pytest.fixture
def stack(provider: AwsEmulator, aws: Emulator) -> Iterator[Stack]:
    stack = Stack(provider)
    yield stack
    aws.set_faults()
    stack.delete_all()
