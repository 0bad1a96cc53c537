"""What the provider says and keeps when ARM refuses, fails later or is not heard, against a server that runs."""

import pytest

from emulators.azure.client import Emulator
from emulators.azure.provider import AzureEmulator
from emulators.azure.resources.connection import ADDRESS_VARIABLE, DELAYS
from emulators.core.faults import ErrorRule, FailedRule, Issue, LostRule
from support.azure_resources import GROUP, IDENTITY, IN_GROUP, NETWORK, PLACE, Stack
from workbench.offline.azure.provider import LIST_CREDENTIALS
from workbench.offline.provider import CloudError, Existing, PartlyMadeError, RefusedError

WHO = {"resourceName": "who", **IN_GROUP, **PLACE}
WRITE = "Microsoft.ManagedIdentity/userAssignedIdentities/write"
WRITE_POOL = "Microsoft.ContainerService/managedClusters/agentPools/write"


@pytest.mark.parametrize("address", ["", "https://management.azure.com", "http://10.0.0.1:5000"])
def test_it_talks_to_nobody_but_this_machine(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ADDRESS_VARIABLE, address)
    with pytest.raises(RefusedError, match=ADDRESS_VARIABLE):
        AzureEmulator().create(GROUP, "main", {"resourceGroupName": "dev", **PLACE})


def test_a_subscription_is_needed() -> None:
    with pytest.raises(CloudError, match="ARM_SUBSCRIPTION_ID"):
        AzureEmulator().configure({})


def test_a_type_that_nobody_described_is_refused(provider: AzureEmulator) -> None:
    with pytest.raises(RefusedError, match=r"cannot make azure-native:cache:Redis"):
        provider.read(Existing("azure-native:cache:Redis", "main", "x"))


def test_what_exists_already_is_not_made_again(stack: Stack) -> None:
    stack.group()
    made = stack.make(IDENTITY, "who", **WHO)
    with pytest.raises(CloudError, match=rf"^cannot create already existing resource '{made.id}'$"):
        stack.provider.create(IDENTITY, "other", made.inputs)


def test_a_refusal_is_said_as_the_plug_in_says_it(stack: Stack) -> None:
    with pytest.raises(CloudError, match=r"^Status=404 Code=\"ResourceGroupNotFound\" Message=\"Resource group 'dev'"):
        stack.make(IDENTITY, "who", **WHO)


def test_throttling_and_trouble_pass_after_as_many_tries_as_the_plug_in_makes(stack: Stack, arm: Emulator) -> None:
    stack.group()
    arm.set_faults(ErrorRule(operation=WRITE, times=len(DELAYS), code="TooManyRequests", status=429))
    assert stack.make(IDENTITY, "who", **WHO).outputs["principalId"]
    assert [call.code for call in arm.calls() if call.operation == WRITE][-4:] == ["TooManyRequests"] * 3 + [""]


@pytest.mark.parametrize(("status", "tries"), [(409, len(DELAYS) + 1), (400, 1)])
def test_a_change_beside_another_one_in_a_network_passes_if_it_is_a_conflict(
    stack: Stack, arm: Emulator, status: int, tries: int
) -> None:
    stack.group()
    before = len(arm.calls())
    arm.set_faults(ErrorRule(operation=WRITE, code="AnotherOperationInProgress", status=status))
    with pytest.raises(CloudError, match=f"^Status={status} "):
        stack.make(IDENTITY, "who", **WHO)
    assert [call.operation for call in arm.calls(before)].count(WRITE) == tries


def test_trouble_that_stays_is_told(stack: Stack, arm: Emulator) -> None:
    stack.group()
    arm.set_faults(ErrorRule(operation=WRITE, code="ServiceUnavailable", status=503, message="later"))
    with pytest.raises(CloudError, match=r'^Status=503 Code="ServiceUnavailable" Message="later"$'):
        stack.make(IDENTITY, "who", **WHO)


def test_a_cluster_that_is_busy_is_told_at_once(stack: Stack, arm: Emulator) -> None:
    stack.cluster()
    arm.set_faults(ErrorRule(operation=WRITE_POOL, code="OperationNotAllowed", status=409, message="busy"))
    with pytest.raises(CloudError, match="OperationNotAllowed"):
        stack.pool("work")
    assert len([call for call in arm.calls() if call.operation == WRITE_POOL and call.code]) == 1


def test_an_answer_that_is_lost_is_asked_for_again(stack: Stack, arm: Emulator) -> None:
    stack.group()
    arm.set_faults(LostRule(operation=WRITE, times=1))
    assert stack.make(IDENTITY, "who", **WHO).outputs["principalId"]


def test_a_pool_that_fails_later_is_kept_with_its_reason(stack: Stack, arm: Emulator) -> None:
    stack.cluster()
    reason = Issue(code="OverconstrainedZonalAllocationRequest", message="no room")
    arm.set_faults(FailedRule(operation=WRITE_POOL, issues=(reason,)))
    with pytest.raises(PartlyMadeError) as raised:
        stack.pool("work")
    assert raised.value.id.endswith("/agentPools/work")
    assert raised.value.outputs["provisioningState"] == "Failed"
    assert "no room" in raised.value.reasons[0]


def test_what_cannot_be_read_is_not_taken_for_gone(stack: Stack, arm: Emulator) -> None:
    stack.group()
    made = stack.make(IDENTITY, "who", **WHO)
    arm.set_faults(ErrorRule(operation=WRITE.replace("write", "read"), code="AuthorizationFailed", status=403))
    with pytest.raises(CloudError, match="AuthorizationFailed"):
        stack.provider.read(made)


def test_a_location_that_is_not_given_is_the_groups(stack: Stack) -> None:
    stack.group()
    checked = stack.provider.check(IDENTITY, "who", {"resourceName": "who", **IN_GROUP}, seed=b"", kept={})
    assert checked.filled == {"location": PLACE["location"]}
    unknown = stack.provider.check(IDENTITY, "who", {"resourceGroupName": "none"}, seed=b"", kept={})
    assert [problem.path for problem in unknown.problems] == ["location"]


def test_a_refresh_shows_what_the_autoscaler_did_and_nothing_that_azure_chose(stack: Stack, arm: Emulator) -> None:
    stack.cluster()
    pool = stack.pool("work")
    arm.move(pool.id, 3)
    refreshed = stack.refreshed(pool)
    assert refreshed.inputs == {**pool.inputs, "count": 3}
    assert "osDiskSizeGB" not in refreshed.inputs


def test_a_refresh_brings_the_clusters_other_pools_into_its_inputs(stack: Stack) -> None:
    cluster = stack.cluster()
    stack.pool("work")
    refreshed = stack.refreshed(cluster)
    assert [pool["name"] for pool in refreshed.inputs["agentPoolProfiles"]] == ["system", "work"]
    assert list(stack.compared(refreshed, agentPoolProfiles=cluster.inputs["agentPoolProfiles"]).kinds) == [
        "agentPoolProfiles[1]"
    ]


def test_an_import_by_an_id_of_another_type_is_refused(stack: Stack) -> None:
    subnet = stack.subnet()
    with pytest.raises(CloudError, match=rf"^failed to parse '{subnet.id}' against the path '/subscriptions/"):
        stack.provider.read(Existing(NETWORK, "net", subnet.id))


def test_identities_are_not_taken_away(stack: Stack) -> None:
    cluster = stack.cluster()
    with pytest.raises(RefusedError, match=r"does not take .*userAssignedIdentities/cluster away"):
        stack.change(cluster, identity={"type": "SystemAssigned"})


def test_credentials_lead_to_the_clusters_own_address(stack: Stack) -> None:
    stack.cluster(aadProfile={"managed": True, "enableAzureRBAC": True})
    asked = {"resourceGroupName": "dev", "resourceName": "dev", "format": "exec"}
    (credentials,) = stack.provider.invoke(LIST_CREDENTIALS, asked)["kubeconfigs"]
    assert credentials["value"]
    with pytest.raises(RefusedError, match="does not answer azure-native:x:y"):
        stack.provider.invoke("azure-native:x:y", {})
