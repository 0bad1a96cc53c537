from collections.abc import Iterator

import pytest

from workbench.clouds.aws.double.client import Double, running


@pytest.fixture(scope="session")
def nothing() -> Iterator[Double]:
    """AWS with nothing of ours in it."""
    with running() as double:
        yield double
