from collections.abc import Iterator

import pytest

from emulators.aws.client import Emulator, running


@pytest.fixture(scope="session")
def nothing() -> Iterator[Emulator]:
    """AWS with nothing of ours in it."""
    with running() as emulator:
        yield emulator
