"""Office hours of stacks from their first `up` to their end, with the real engine and emulators of the clouds."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from components.contract.hours import WEEKDAYS, OfficeHours
from support import azure_emulator
from support.aws_emulator import Account, identities, left_by_destroy, writes
from support.azure_emulator import CLUSTER, Subscription
from support.lives import hollow, kill
from workbench.offline.azure.facts import resource

pytestmark = pytest.mark.engine

STACK = "dev"
PUT = "autoscaling:PutScheduledUpdateGroupAction"
UP = ("up", STACK, "--hermetic", "--yes")


def hours_of(moment: datetime) -> dict[str, Any]:
    """Return hours of a day three days after a moment: outside them whenever the test runs."""
    return {
        "days": [WEEKDAYS[(moment.weekday() + 3) % 7].value],
        "from": "08:00",
        "to": "19:00",
        "timeZone": "Europe/Berlin",
    }


@pytest.fixture
def cloud(tmp_path: Path) -> Iterator[Account]:
    with hollow(Account, tmp_path, STACK, pools__workload__size={"min": 1, "max": 5}) as made:
        yield made


AKS_STACK = "aks-dev"
AKS_UP = ("up", AKS_STACK, "--hermetic", "--yes")
WORKFLOW = "azure-native:logic:Workflow"


def power(azure: Subscription) -> str:
    (cluster,) = azure.azure.inventory()[CLUSTER]
    code: str = azure.azure.ask("GET", cluster, resource(CLUSTER).api_version).body["properties"]["powerState"]["code"]
    return code


def desired(cloud: Account) -> list[int]:
    groups = cloud.aws.api("autoscaling").describe_auto_scaling_groups()["AutoScalingGroups"]
    return sorted(group["DesiredCapacity"] for group in groups)


def night_falls(cloud: Account, hours: OfficeHours) -> datetime:
    """Let the schedules of an evening run and return the next opening after it."""
    opens = hours.next_opening(datetime.now(UTC))
    closes = opens.replace(hour=19)
    assert len(cloud.aws.run_schedules(closes)) == 1  # the initial group, where the autoscaler runs
    cloud.aws.run_schedules(closes + timedelta(minutes=20))
    return hours.next_opening(closes)


@pytest.mark.full
def test_a_cluster_sleeps_is_no_drift_is_not_changed_and_wakes(cloud: Account) -> None:
    now = datetime.now(UTC)
    given = hours_of(now)
    hours = OfficeHours.model_validate(given)
    cloud.edit(STACK, cluster__officeHours=given)
    cloud.run(*UP)
    by_day = desired(cloud)
    assert 0 not in by_day
    opens = night_falls(cloud, hours)
    assert set(desired(cloud)) == {0}
    assert "no drift" in cloud.run("drift", STACK, "--hermetic").stdout.lower()
    last = cloud.last
    for command in ("up", "destroy"):
        refused = cloud.run(command, STACK, "--hermetic", "--yes", check=False)
        assert refused.returncode == 1
        assert re.search(r"sleeps by cluster\.officeHours .* until \d{4}-\d\d-\d\d 08:00", refused.stderr)
        assert "aws eks update-nodegroup-config" in refused.stderr
    assert writes(cloud.aws.calls(last)) == []
    cloud.aws.run_schedules(opens)
    cloud.aws.run_schedules(opens + timedelta(minutes=10))
    assert desired(cloud) == by_day
    cloud.run(*UP)
    assert writes(cloud.aws.calls(last)) == []
    assert left_by_destroy(cloud, STACK) == set()


@pytest.mark.full
def test_hours_of_a_pool_lower_its_minimum_and_an_update_at_night_keeps_it(cloud: Account) -> None:
    given = hours_of(datetime.now(UTC))
    hours = OfficeHours.model_validate(given)
    cloud.edit(STACK, pools__workload__officeHours=given)
    kill(cloud, STACK, PUT)  # between the two actions of the pool
    in_state, in_aws = identities(cloud, STACK)
    assert in_state == in_aws
    opens = hours.next_opening(datetime.now(UTC))
    (ran,) = cloud.aws.run_schedules(opens.replace(hour=19))
    assert " workload-night-" in ran
    assert "no drift" in cloud.run("drift", STACK, "--hermetic").stdout.lower()
    last = cloud.last
    cloud.move("dev-workload", 0)  # by the autoscaler
    cloud.edit(STACK, pools__workload__officeHours=None)
    refused = cloud.run(*UP, check=False).stderr
    assert "has 0 nodes, and min would be 1" in refused
    assert "aws eks update-nodegroup-config" in refused
    cloud.edit(STACK, pools__workload__officeHours=given, pools__workload__size={"min": 1, "max": 6})
    cloud.run(*UP)
    groups = cloud.aws.api("autoscaling").describe_auto_scaling_groups()["AutoScalingGroups"]
    assert (0, 6) in {(group["MinSize"], group["MaxSize"]) for group in groups}
    # The night begins when the morning was: AWS would refuse the new action beside the old one.
    cloud.edit(STACK, pools__workload__officeHours={**given, "from": "06:00", "to": "08:00"})
    cloud.run(*UP)
    changed = [call.operation for call in writes(cloud.aws.calls(last)) if "Schedule" in call.operation]
    assert changed == ["autoscaling:DeleteScheduledAction"] * 2 + [PUT] * 2


@pytest.mark.full
def test_a_cluster_on_aks_is_stopped_is_no_drift_is_not_changed_and_starts(azure: Subscription) -> None:
    given = hours_of(datetime.now(UTC))
    hours = OfficeHours.model_validate(given)
    (day,) = given["days"]
    # Upgrades within the hours, or they would never run.
    window = {"day": day, "startHour": 9, "hours": 4}
    azure.edit(AKS_STACK, cluster__officeHours=given, cluster__maintenance=window)
    kill(azure, AKS_STACK, "Microsoft.Authorization/roleDefinitions/write")  # between the role and its assignment
    in_state, in_azure = azure_emulator.identities(azure, AKS_STACK)
    assert in_state == in_azure
    assert power(azure) == "Running"

    opens = hours.next_opening(datetime.now(UTC))
    assert azure.azure.run_schedules(opens.replace(hour=19)) == ["mlrun-dev-stop Succeeded"]
    assert power(azure) == "Stopped"
    drift = azure.run("drift", AKS_STACK, "--hermetic")
    assert "no drift" in drift.stdout.lower()
    assert re.search(r"The cluster sleeps by cluster\.officeHours .*\. Objects in it are not compared\.", drift.stdout)
    assert "note: The cluster sleeps" in azure.run("preview", AKS_STACK, "--hermetic").stderr
    for command in ("status", "verify"):
        assert "sleeps by cluster.officeHours" in azure.run(command, AKS_STACK, "--hermetic").stdout
    last = azure.last
    for command in ("up", "destroy"):
        refused = azure.run(command, AKS_STACK, "--hermetic", "--yes", check=False)
        assert refused.returncode == 1
        assert "`az aks start --resource-group mlrun-dev --name mlrun-dev`" in refused.stderr
    azure.edit(AKS_STACK, cluster__officeHours=None)
    without = azure.run(*AKS_UP, check=False)
    assert "is stopped, and the stack file has no cluster.officeHours" in without.stderr
    azure.edit(AKS_STACK, cluster__officeHours=given)
    assert azure_emulator.writes(azure.azure.calls(last)) == []

    assert azure.azure.run_schedules(opens) == ["mlrun-dev-start Succeeded"]
    assert power(azure) == "Running"
    azure.run(*AKS_UP)
    assert azure_emulator.writes(azure.azure.calls(last)) == []
    azure.edit(AKS_STACK, cluster__officeHours={**given, "to": "18:00"})
    azure.run(*AKS_UP)
    changed = [call.operation for call in azure_emulator.writes(azure.azure.calls(last))]
    assert changed == ["Microsoft.Logic/workflows/write"]
    assert azure_emulator.after_destroy(azure, AKS_STACK) == (set(), set())
