from collections.abc import Iterator

import pytest

from emulators.core.client import IMPORTABLE


@pytest.fixture(scope="session", autouse=True)
def _importable_by_subprocesses() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in IMPORTABLE.items():
            patch.setenv(name, value)
        yield
