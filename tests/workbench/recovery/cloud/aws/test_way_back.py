"""Where a control plane of EKS can go back to, by what AWS says of its updates and insights."""

from datetime import UTC, datetime, time, timedelta
from typing import Any

import pytest

from components.contract.kubernetes_minors import calendar
from support.minors import CHOSEN, OLDER
from workbench.engine.clouds.way_back import WayBack
from workbench.recovery.cloud.aws.way_back import way_back

NOW = datetime(2026, 11, 26, tzinfo=UTC)
INSIGHTS = {
    "Cluster health": "ERROR",
    "API usage": "WARNING",
    "Add-ons": "PASSING",
    "Feature gates": "UNKNOWN",
}


class Answers:
    """Stands in for the queries."""

    cluster = "research"

    def __init__(self, *updates: dict[str, Any]) -> None:
        self._updates = {str(number): update for number, update in enumerate(updates)}

    def look_up(self, service: str, operation: str, **parameters: Any) -> dict[str, Any]:
        assert (service, parameters["name"]) == ("eks", "research")
        if operation == "describe_update":
            return {"update": self._updates[parameters["updateId"]]}
        return {"cluster": {"version": CHOSEN}}

    def listed(self, _: str, operation: str, key: str, **parameters: Any) -> list[Any]:
        if operation == "list_updates":
            return [*self._updates]
        assert (key, parameters["filter"]) == ("insights", {"categories": ["ROLLBACK_READINESS"]})
        return [
            {"name": name, "insightStatus": {"status": status, "reason": "because"}}
            for name, status in INSIGHTS.items()
        ]


def update(days: float, type_: str = "VersionUpdate", version: str = CHOSEN, status: str = "Successful") -> Any:
    params = [{"type": "Version", "value": version}, {"type": "PlatformVersion", "value": "eks.1"}]
    return {"type": type_, "status": status, "params": params, "createdAt": NOW - timedelta(days=days)}


def found(*updates: dict[str, Any], now: datetime = NOW) -> WayBack:
    queries: Any = Answers(*updates)
    return way_back(queries, now)


def test_an_upgrade_of_the_last_week_can_be_undone_if_eks_reports_no_error() -> None:
    assert found(update(60, version=OLDER), update(6), update(1, "LoggingUpdate")) == WayBack(
        OLDER,
        errors=("Cluster health: because",),
        warnings=("API usage: because", "Feature gates: because"),
    )


@pytest.mark.parametrize(
    "updates",
    [
        [],
        [update(7)],
        [update(6, status="Failed")],
        [update(6, version=OLDER)],
        [update(6), update(5, "VersionRollback", OLDER)],
        [update(3, "LoggingUpdate")],
    ],
    ids=["none", "a week ago", "failed", "to another version", "undone already", "of something else"],
)
def test_nothing_else_is_a_way_back(updates: list[dict[str, Any]]) -> None:
    assert found(*updates) == WayBack()


def test_a_version_in_extended_support_is_no_way_back() -> None:
    """EKS asks for another support policy than that of our clusters, after nodes and add-ons went back."""
    ends = calendar("eks")[OLDER].ends
    assert ends
    last = datetime.combine(ends, time(12), UTC)
    upgraded = {**update(0), "createdAt": last - timedelta(days=1)}
    assert found(upgraded, now=last).version == OLDER
    assert found(upgraded, now=last + timedelta(days=1)) == WayBack()
