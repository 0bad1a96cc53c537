"""A cluster on AKS that its hours stop, with a real API server that then does not answer."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from components.contract.hours import WEEKDAYS, OfficeHours
from support.azure_emulator import Subscription
from support.lives import SMALL

pytestmark = [pytest.mark.engine, pytest.mark.control_plane, pytest.mark.full]

STACK = "aks-dev"


def test_objects_in_a_stopped_cluster_are_neither_drift_nor_in_the_way_of_a_preview(tmp_path: Path) -> None:
    now = datetime.now(UTC)
    day = WEEKDAYS[(now.weekday() + 3) % 7].value
    given = {"days": [day], "from": "08:00", "to": "19:00", "timeZone": "Europe/Berlin"}
    opens = OfficeHours.model_validate(given).next_opening(now)
    with Subscription.opened(tmp_path, STACK, is_quick=True) as azure:
        window = {"day": day, "startHour": 9, "hours": 4}
        azure.edit(STACK, policyGuard="off", cluster__officeHours=given, cluster__maintenance=window, **SMALL)
        azure.run("up", STACK, "--hermetic", "--yes")
        azure.azure.run_schedules(opens.replace(hour=19))
        drift = azure.run("drift", STACK, "--hermetic")
        assert "No drift in what was compared" in drift.stdout
        assert "Objects in it are not compared." in drift.stdout
        assert "note: The cluster sleeps" in azure.run("preview", STACK, "--hermetic").stderr
        assert "sleeps by cluster.officeHours" in azure.run("status", STACK, "--hermetic").stdout
        azure.azure.run_schedules(opens)
        assert "no drift" in azure.run("drift", STACK, "--hermetic").stdout.lower()
