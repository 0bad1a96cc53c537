"""Clusters that are stopped and started."""

from support.aks_account import Account, unique
from support.minors import EARLIER


def test_a_cluster_stops_with_its_pools_and_starts_again(own: Account) -> None:
    cluster = own.cluster()
    pool = own.pool(cluster)
    own.az.set_scale(1)
    told = own.ask("POST", f"{cluster}/stop")
    assert told.status == 202
    assert own.state(cluster) == own.state(pool) == "Stopping"
    assert own.refused("POST", f"{cluster}/start").code == "OperationNotAllowed"
    own.az.advance(600)
    assert own.operation(told)["status"] == "Succeeded"
    for id_ in (cluster, pool):
        assert own.properties(id_)["powerState"] == {"code": "Stopped"}
        assert own.state(id_) == "Succeeded"
    assert own.ask("POST", f"{cluster}/start").status == 202
    own.az.advance(600)
    assert own.properties(pool)["powerState"] == {"code": "Running"}
    assert own.properties(pool)["count"] == 1


def test_a_stopped_cluster_can_only_be_started_or_deleted(own: Account) -> None:
    cluster = own.cluster()
    own.ask("POST", f"{cluster}/stop")
    body = own.cluster_body(nodeResourceGroup=own.properties(cluster)["nodeResourceGroup"])
    weekly = {"durationHours": 4, "schedule": {"weekly": {"dayOfWeek": "Sunday", "intervalWeeks": 1}}}
    window = {"properties": {"maintenanceWindow": {**weekly, "startTime": "02:00", "utcOffset": "+00:00"}}}
    for id_, given in (
        (cluster, body),
        (f"{cluster}/agentPools/{unique('pool')}", own.pool_body(orchestratorVersion=EARLIER)),
        (f"{cluster}/maintenanceConfigurations/aksManagedAutoUpgradeSchedule", window),
    ):
        told = own.refused("PUT", id_, given)
        assert (told.code, told.status) == ("OperationNotAllowed", 409)
        assert "can only be started or deleted" in told.message
    again = own.refused("POST", f"{cluster}/stop")
    assert again.message.endswith("Power State(Stopped), stopping cannot be performed")
    own.delete(cluster)


def test_a_running_cluster_is_not_started(own: Account) -> None:
    assert "starting cannot be performed" in own.refused("POST", f"{own.cluster()}/start").message
