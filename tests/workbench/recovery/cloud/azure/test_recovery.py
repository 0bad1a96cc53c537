"""What the real program makes in Azure is found again by its id, listed, and entered into a state that lost it."""

import json
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from typing_extensions import override

from components.contract.aks.backup import AksBackup
from emulators.azure.client import Emulator, running
from emulators.azure.provider import AzureEmulator
from emulators.core.faults import ErrorRule
from support.aks import AGENT_POOL, CLUSTER, ROLE_ASSIGNMENT
from support.aks_state import components
from support.azure_cloud_resources import account_at, build_in_azure
from support.azure_emulator import GROUP
from support.azure_resources import FILE_SERVICE, PLACEMENT
from support.cloud_state import Resource
from workbench import stacks
from workbench.engine import Session
from workbench.offline.azure.facts import facts
from workbench.offline.provider import Existing
from workbench.recovery.cloud import CloudRecovery
from workbench.recovery.cloud.azure.account import AzureAccount
from workbench.recovery.cloud.azure.queries import ARM
from workbench.recovery.cloud.azure.restore import INSTANCE
from workbench.recovery.cloud.azure.searches import UNTAGGED
from workbench.recovery.cloud.lookup import LookupQuery
from workbench.recovery.cloud.plan import answer_of
from workbench.system.errors import UserError

NEAR = {"pools.gpu.zone": "2", "pools.gpu.closeTogether": True}
STORED: dict[str, Any] = {
    "cluster.backup": {},
    "storage": {"corpus": {"purpose": "dataset", "type": "files"}},
    "namespaces": {"mlrun": {"coreServices": True, "volumes": {"shared": {"storage": "corpus", "sizeGib": 200}}}},
}


@dataclass(frozen=True)
class Scripted(Session):
    """A session whose engine answers from what the test says, and keeps what it is given."""

    exported: dict[str, Any] = field(default_factory=dict)

    @override
    def output(self, *arguments: str, folder: Path = Path(), stdin: str | None = None) -> str:
        if arguments == ("stack", "export"):
            return json.dumps(self.exported)
        assert arguments == ("stack", "import")
        assert stdin
        self.exported.update(json.loads(stdin))
        return "Import complete."


@dataclass(frozen=True)
class Made:
    """A stack that is whole in Azure."""

    emulator: Emulator
    account: AzureAccount
    resources: Sequence[Resource]

    @property
    def findable(self) -> list[Resource]:
        """Resources without those that are there whether or not the stack made them."""
        return [each for each in self.resources if not facts().resources[each.type].singleton]

    def one(self, type_: str) -> Resource:
        return next(each for each in self.resources if each.type == type_)

    def recovery(self, *without: Resource, pending: tuple[Resource, ...] = ()) -> CloudRecovery:
        rest = [each.state for each in self.resources if each not in (*without, *pending)]
        operations = [each.pending for each in pending]
        deployment = {"manifest": {"time": "then"}, "resources": rest, "pending_operations": operations}
        session = Scripted(stacks.find("dev"), Path("pulumi"), {}, exported={"version": 3, "deployment": deployment})
        return CloudRecovery(session, self.account, lambda _: None, pause=0.01)


@pytest.fixture(scope="module")
def made() -> Iterator[Made]:
    with running() as emulator, pytest.MonkeyPatch.context() as patch:
        account = account_at(emulator, patch)
        yield Made(emulator, account, build_in_azure(STORED))


def test_everything_is_found_under_the_id_that_its_inputs_make(made: Made) -> None:
    for each in made.findable:
        (found,) = made.account.search(LookupQuery(each.urn, each.type, each.inputs))
        assert found.id.lower() == each.id.lower()
        assert found.tags is None or made.account.is_ours(found.tags), each.urn
        assert (found.tags is None) == (each.type in UNTAGGED)
    assert {each.type for each in made.resources} <= set(facts().resources)


def test_a_refresh_changes_no_input_of_what_was_entered(made: Made) -> None:
    provider = AzureEmulator()
    provider.configure({"subscriptionId": made.account.choices.subscription_id})
    for each in made.findable:
        wanted = LookupQuery(each.urn, each.type, each.inputs)
        entered = answer_of(wanted, made.account.search(wanted), frozenset(), lambda _: True).made
        assert entered
        read = provider.read(Existing(each.type, "", entered.id, each.inputs, entered.outputs))
        assert read, each.urn
        assert read.inputs == each.inputs, each.urn


def test_what_stops_a_cluster_or_keeps_machines_close_is_found_read_and_listed_like_all_else() -> None:
    hours = {"from": "08:00", "to": "19:00", "timeZone": "UTC"}
    window = {"day": "monday", "startHour": 9, "hours": 4}
    changes = {"cluster.officeHours": hours, "cluster.maintenance": window, "pools.data": None, **NEAR}
    with running() as emulator, pytest.MonkeyPatch.context() as patch:
        stopping = Made(emulator, account_at(emulator, patch), build_in_azure(changes))
        assert stopping.one("azure-native:logic:Workflow")
        assert stopping.one(PLACEMENT)
        test_everything_is_found_under_the_id_that_its_inputs_make(stopping)
        test_a_refresh_changes_no_input_of_what_was_entered(stopping)
        test_what_aks_made_is_listed_as_such_and_nothing_twice(stopping)


def test_what_is_made_of_what_is_not_known_yet_cannot_be_there(made: Made) -> None:
    pool = made.one(AGENT_POOL)
    inputs = {key: value for key, value in pool.inputs.items() if key != "resourceName"}
    assert made.account.search(LookupQuery(pool.urn, pool.type, inputs)) == []


def test_what_azure_makes_itself_is_set_again_instead_of_being_entered(made: Made) -> None:
    looking = made.recovery(pending=(made.one(FILE_SERVICE),))
    (finding,) = looking.pending()
    assert "was not created" in finding.remedy
    assert finding.repair
    finding.repair()
    assert looking.pending() == []


def test_a_stack_in_order_has_no_findings(made: Made) -> None:
    looking = made.recovery()
    assert [*looking.pending(), *looking.leftovers()] == []


def test_what_was_being_made_is_entered_and_what_was_not_is_dropped(made: Made) -> None:
    pool, role = made.one(AGENT_POOL), made.one(ROLE_ASSIGNMENT)
    ghost = replace(pool, urn=f"{pool.urn}-ghost", inputs={**pool.inputs, "agentPoolName": "ghost0000"})
    looking = made.recovery(pending=(pool, role, ghost))
    (finding,) = looking.pending()
    assert f"Azure has {pool.id} (Succeeded)" in finding.remedy
    assert "was not created" in finding.remedy
    assert finding.repair
    finding.repair()
    assert isinstance(looking.session, Scripted)
    entered = {each["urn"]: each["id"] for each in looking.session.exported["deployment"]["resources"]}
    assert (entered[pool.urn], entered[role.urn]) == (pool.id, role.id)
    assert ghost.urn not in entered
    assert looking.pending() == []


OLD_NAME = {"roleAssignmentName": "11111111-2222-3333-4444-555555555555"}


def test_a_role_assignment_with_the_name_of_an_earlier_release_is_found_by_what_it_grants(made: Made) -> None:
    """Names change with releases; here the one in Azure has another name than the preview plans."""
    role = made.one(ROLE_ASSIGNMENT)
    query = LookupQuery(role.urn, role.type, {**role.inputs, **OLD_NAME}, is_planned=True)
    (found,) = made.account.search(query)
    assert found.id.lower() == role.id.lower()
    assert found.inputs == {"roleAssignmentName": role.inputs["roleAssignmentName"]}
    assert made.account.search(replace(query, is_planned=False)) == []
    without = {key: value for key, value in query.inputs.items() if key != "principalId"}
    assert made.account.search(replace(query, inputs=without)) == []


def test_a_role_assignment_of_another_cluster_stays_out_of_the_state(made: Made) -> None:
    role = made.one(ROLE_ASSIGNMENT)
    ours = replace(role, inputs={**role.inputs, "principalId": "99999999-2222-3333-4444-555555555555"})
    looking = made.recovery(role, pending=(ours,))
    (finding,) = looking.pending()
    assert "was not created" in finding.remedy
    assert finding.repair
    finding.repair()
    assert isinstance(looking.session, Scripted)
    assert role.urn not in {each["urn"] for each in looking.session.exported["deployment"]["resources"]}
    planned = LookupQuery(ours.urn, ours.type, {**ours.inputs, **OLD_NAME}, is_planned=True)
    assert made.account.search(planned) == []


def test_something_of_somebody_else_stays_out_of_the_state(made: Made) -> None:
    looking = replace(made.recovery(pending=(made.one(CLUSTER),)), account=replace(made.account, stack="another"))
    (finding,) = looking.pending()
    assert "which lacks this stack's tag" in finding.remedy


def test_what_nobody_wants_is_listed_with_commands_and_data_are_marked(made: Made) -> None:
    data = next(each for each in made.resources if each.type == AGENT_POOL and "-data-" in each.urn)
    (finding,) = made.recovery(data).leftovers()
    assert finding.found.startswith(f"In Azure, tagged with this stack, but not in its state: AgentPool {data.id}")
    assert finding.remedy.startswith("Deleting it loses its data.")
    assert f"az resource delete --ids {data.id}" in finding.remedy
    assert finding.repair is None


def test_what_aks_made_is_listed_as_such_and_nothing_twice(made: Made) -> None:
    resources = made.account.tagged_resources()
    by_aks = [each for each in resources if each.is_byproduct]
    assert by_aks
    assert all("/research-nodes/" in each.id for each in by_aks)
    ours = sorted((each.type, each.id.lower()) for each in resources if not each.is_byproduct)
    assert ours == sorted((each.type, each.id.lower()) for each in made.resources if each.type not in UNTAGGED)


def test_what_backups_keep_is_said_to_be_kept_and_is_no_orphan(made: Made) -> None:
    kept = [each for each in made.account.tagged_resources() if each.kept]
    types = [each.type.rpartition(":")[2] for each in kept]
    assert types == ["BackupVault", "ResourceGroup", "ResourceGroup", "StorageAccount"]
    assert "14 days after its backup instances" in kept[0].removal
    deletions = [each.delete.partition(" --subscription")[0] for each in kept[1:3]]
    assert deletions == [f"az group delete --name research-{name}" for name in ("backup", "snapshots")]
    gone = [each for each in made.resources if "research-backup" in each.id or "research-snapshots" in each.id]
    assert made.recovery(*gone).leftovers() == []


def test_backups_are_listed_newest_first_and_restored_by_one_command(made: Made) -> None:
    assert made.account.recovery_points() == []
    night = datetime(2027, 1, 1, 2, tzinfo=UTC)
    ids = [made.emulator.run_backups(night + timedelta(days=day))[0] for day in range(2)]
    newest, oldest = made.account.recovery_points()
    assert [oldest.id, newest.id] == ids
    assert (newest.of, newest.is_whole, newest.made) == ("research", True, night + timedelta(days=1))
    assert newest.until == night + timedelta(days=36)
    for namespaces in ([], ["mlrun", "jobs"]):
        words = shlex.split(made.account.restore_command(oldest, "", namespaces=namespaces, zone=""))
        body = json.loads(words[-1])
        assert body["restoreTargetInfo"]["restoreCriteria"][0].get("includedNamespaces", []) == namespaces
        post(made.emulator, shlex.join(words))
    jobs = made.account.restore_jobs()
    assert [(each.of, each.state, each.is_restored) for each in jobs] == [("research", "COMPLETED", True)] * 2
    assert all(each.ended and each.ended >= each.begun for each in jobs)


def test_a_protection_in_error_is_reported_with_the_command_that_lets_azure_try_again(made: Made) -> None:
    account = replace(made.account, choices=made.account.choices.model_copy(update={"backup": AksBackup()}))
    assert account.backup_problem() == ""
    role = next(each for each in made.resources if each.urn.endswith("backup-vault-cluster"))
    version = facts().resources[role.type].api_version
    given = made.emulator.ask("GET", role.id, version).body["properties"]
    made.emulator.ask("DELETE", role.id, version)
    instance = made.one(INSTANCE).id
    post(made.emulator, f"az rest --url {ARM}{instance}/sync?api-version=2025-01-01 --body {{}}")
    problem = account.backup_problem()
    assert "its instance is in ProtectionError. KubernetesBackupListExtensionsError: The vault backup" in problem
    given.pop("scope")  # Azure's own
    assert made.emulator.ask("PUT", role.id, version, {"properties": given}).status == 201
    post(made.emulator, problem.split("`")[1])
    assert account.backup_problem() == ""
    assert made.account.backup_problem() == "", "nothing is wrong without backups that the stack file asks for"


def post(emulator: Emulator, command: str) -> None:
    """Do what a command of `az rest` does."""
    words = shlex.split(command)
    path, _, version = words[words.index("--url") + 1].removeprefix(ARM).partition("?api-version=")
    assert emulator.ask("POST", path, version, json.loads(words[-1])).status == 202


def test_what_others_put_into_the_group_is_named_before_a_destroy_and_nothing_else(made: Made) -> None:
    recorded = {each.id for each in made.resources if each.type != AGENT_POOL}  # a killed run lost some, tagged as ours
    assert made.account.foreign_resources(recorded) == []
    theirs = f"{made.account.choices.group_id}/providers/Microsoft.Storage/storageAccounts/models"
    made.emulator.leave_resource(theirs)
    (blocker,) = made.account.foreign_resources({each.upper() for each in recorded})
    assert str(blocker) == (
        f"- {theirs}: is in the resource group research, and this stack did not create it; "
        "Azure deletes a resource group with everything in it.\n"
        f"  Move it (`az resource move --destination-group GROUP --ids {theirs}`) or delete it "
        f"(`az resource delete --ids {theirs}`)."
    )
    assert made.account.foreign_resources(recorded - {made.one(GROUP).id}) == []


def test_a_command_for_a_name_with_spaces_and_parentheses_is_one_that_a_shell_takes(made: Made) -> None:
    name = "ContainerInsights(logs) - research"
    theirs = f"{made.account.choices.group_id}/providers/Microsoft.OperationsManagement/solutions/{name}"
    made.emulator.leave_resource(theirs)
    (found,) = [each for each in made.account.foreign_resources({made.one(GROUP).id}) if each.where == theirs]
    assert f"`az resource delete --ids '{theirs}'`" in found.step


def test_another_stack_has_nothing_of_this_one(made: Made) -> None:
    other = replace(made.account, stack="another")
    assert [each for each in other.tagged_resources() if not each.is_byproduct] == []


def test_each_part_is_asked_for_and_none_is_missed(made: Made) -> None:
    current = made.account.conditions(components())
    assert {condition.status for condition in current.values()} == {"Succeeded"}
    assert len(current) == len(components())


@pytest.mark.parametrize(
    ("code", "status", "said"),
    [
        ("ExpiredAuthenticationToken", 401, r"credentials have expired \(ExpiredAuthenticationToken\)"),
        ("AuthorizationFailed", 403, r"Azure refused to show .* \(AuthorizationFailed\): not you"),
        ("InvalidResourceType", 404, "does not recognise .*: not you"),
    ],
)
def test_what_azure_refuses_is_said_and_never_taken_for_absent(made: Made, code: str, status: int, said: str) -> None:
    rule = ErrorRule(
        operation="Microsoft.ContainerService/managedClusters/read", code=code, status=status, message="not you"
    )
    made.emulator.set_faults(rule)
    try:
        with pytest.raises(UserError, match=said):
            made.account.look_up(CLUSTER, made.account.choices.cluster_id)
    finally:
        made.emulator.set_faults()
