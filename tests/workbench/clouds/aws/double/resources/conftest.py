from collections.abc import Iterator

import pytest

from support.aws_resources import Stack
from workbench.clouds.aws.double.client import Double
from workbench.clouds.aws.double.provider import AwsDouble
from workbench.clouds.aws.double.resources.connection import ADDRESS_VARIABLE
from workbench.clouds.pace import PACE_VARIABLE

DEFAULT_TAGS = '{"tags": {"team": "ml"}}'


@pytest.fixture
def provider(aws: Double, monkeypatch: pytest.MonkeyPatch) -> AwsDouble:
    """The provider as the engine configures it, in a hurry."""
    monkeypatch.setenv(ADDRESS_VARIABLE, aws.address)
    monkeypatch.setenv(PACE_VARIABLE, "0.0002")
    provider = AwsDouble()
    provider.configure({"region": "eu-west-1", "allowedAccountIds": '["111122223333"]', "defaultTags": DEFAULT_TAGS})
    return provider


@pytest.fixture
def stack(provider: AwsDouble, aws: Double) -> Iterator[Stack]:
    stack = Stack(provider)
    yield stack
    aws.set_faults()
    stack.delete_all()
