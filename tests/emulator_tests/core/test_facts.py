"""What the facts say of a refused request: sent again or final."""

from typing import Any

import pytest

from emulators.core.facts import passing
from workbench.offline.facts import Retried

BUSY = Retried(status=(429, 503), source="a")
BESIDE = Retried(status=(409,), code="Beside", source="a")
MISSING = Retried(request="iam:CreateRole", code="Missing", message="not yet", seconds=120, source="a")


@pytest.mark.parametrize(
    ("refusal", "found"),
    [
        ({"status": 503, "code": "Any"}, BUSY),
        ({"status": 409, "code": "Beside"}, BESIDE),
        ({"status": 409, "code": "InUse"}, None),
        ({"request": "iam:CreateRole", "code": "Missing", "message": "It is not yet there"}, MISSING),
        ({"request": "iam:CreateRole", "code": "Missing", "message": "gone"}, None),
        ({"request": "iam:DeleteRole", "code": "Missing", "message": "not yet"}, None),
        ({"status": 500}, None),
    ],
)
def test_a_refusal_passes_if_all_of_a_fact_fits(refusal: dict[str, Any], found: Retried | None) -> None:
    assert passing([BUSY, BESIDE, MISSING], **refusal) is found
