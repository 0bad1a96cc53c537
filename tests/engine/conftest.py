"""Small stacks on emulators."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.aws_emulator import Account
from support.azure_emulator import Subscription
from support.lives import hollow


@pytest.fixture
def aws(tmp_path: Path) -> Iterator[Account]:
    with hollow(Account, tmp_path, "dev") as made:
        yield made


@pytest.fixture
def azure(tmp_path: Path) -> Iterator[Subscription]:
    with hollow(Subscription, tmp_path, "aks-dev") as made:
        yield made
