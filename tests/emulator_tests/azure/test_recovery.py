import pytest

from emulators.azure.client import ADDRESS_VARIABLE
from emulators.azure.recovery import connect
from support.azure_cloud_resources import choices
from workbench.offline.provider import RefusedError


def test_an_address_that_is_not_on_this_machine_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ADDRESS_VARIABLE, "https://management.example.com")
    with pytest.raises(RefusedError, match=r"on 127\.0\.0\.1"):
        connect(choices())
