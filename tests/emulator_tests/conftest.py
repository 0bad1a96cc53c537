from collections.abc import Iterator
from pathlib import Path

import pytest

from emulators.core.client import IMPORTABLE

HERE = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave the emulators' own tests to `make test-all`: only a change of an emulator needs them."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.full)


@pytest.fixture(scope="session", autouse=True)
def _importable_by_subprocesses() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in IMPORTABLE.items():
            patch.setenv(name, value)
        yield
