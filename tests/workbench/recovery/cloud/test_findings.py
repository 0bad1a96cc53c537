import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import boto3
import pytest
from typing_extensions import override

from emulators.aws.client import Emulator, running
from support.aws_cloud_resources import account_at, build_in_aws
from support.cloud_state import Resource
from support.state_files import checkpoint, said, write
from workbench import stacks
from workbench.engine import Session
from workbench.engine.backend import StateFiles
from workbench.recovery.cloud import CloudRecovery
from workbench.recovery.cloud.aws.account import AwsAccount as Account
from workbench.system.errors import UserError
from workbench.system.paths import APP

NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
ROUTE = "aws:ec2/route:Route"
PROVIDER = {
    "urn": "urn:pulumi:test::igz-clusters::pulumi:providers:aws::test-aws",
    "type": "pulumi:providers:aws",
    "custom": True,
    "id": "p1",
}
REFERENCE = f"{PROVIDER['urn']}::p1"


@dataclass(frozen=True)
class Scripted(Session):
    """A session whose engine answers from what the test says, and keeps what it is given."""

    exported: dict[str, Any] = field(default_factory=dict)
    preview: dict[str, Any] = field(default_factory=dict)
    backend: str = "s3://states"
    imports: list[dict[str, Any]] = field(default_factory=list)
    refuses: str = ""

    @override
    def output(self, *arguments: str, folder: Path = Path(), stdin: str | None = None) -> str:
        match arguments:
            case ("stack", "export"):
                return json.dumps(self.exported)
            case ("preview", "--json"):
                return json.dumps(self.preview)
            case ("whoami", "--json"):
                return json.dumps({"user": "me", "url": self.backend})
            case ("stack", "import") if self.refuses:
                raise UserError(self.refuses)
            case ("stack", "import"):
                assert stdin
                self.imports.append(json.loads(stdin))
                self.exported.update(json.loads(stdin))
                self.exported["deployment"]["manifest"] = {"time": str(len(self.imports))}
                return "Import complete."
        raise AssertionError(arguments)


@pytest.fixture(scope="module")
def made() -> Iterator[tuple[Account, list[Resource], Emulator]]:
    with running() as emulator, pytest.MonkeyPatch.context() as patch:
        account = account_at(emulator, patch)
        yield account, build_in_aws(), emulator


@pytest.fixture
def account(made: tuple[Account, list[Resource], Emulator]) -> Account:
    return made[0]


@pytest.fixture
def resources(made: tuple[Account, list[Resource], Emulator]) -> list[Resource]:
    return made[1]


def one(resources: list[Resource], type_: str) -> Resource:
    return next(each for each in resources if each.type == type_)


def recovery(account: Account, exported: dict[str, Any], said: list[str] | None = None, **more: Any) -> CloudRecovery:
    session = Scripted(stacks.find("dev"), Path("pulumi"), {}, exported=exported, **more)
    return CloudRecovery(session, account, (said if said is not None else []).append, pause=0.01)


def state(resources: list[Resource], *without: Resource, pending: tuple[Resource, ...] = ()) -> dict[str, Any]:
    rest = [each.state for each in resources if each not in (*without, *pending)]
    operations = [each.pending for each in pending]
    deployment = {"manifest": {"time": "then"}, "resources": [PROVIDER, *rest], "pending_operations": operations}
    return {"version": 3, "deployment": deployment}


def imports(recovery: CloudRecovery) -> list[dict[str, Any]]:
    assert isinstance(recovery.session, Scripted)
    return recovery.session.imports


def test_a_stack_in_order_has_no_findings(account: Account, resources: list[Resource]) -> None:
    looking = recovery(account, state(resources))
    assert [*looking.files(), *looking.pending(), *looking.missing_from_state(), *looking.leftovers()] == []


def test_what_was_being_made_is_entered_and_a_second_look_finds_nothing(
    account: Account, resources: list[Resource]
) -> None:
    group, route = one(resources, NODE_GROUP), one(resources, ROUTE)
    looking = recovery(account, state(resources, pending=(group, route)))
    (finding,) = looking.pending()
    assert finding.found.startswith("The state of 'dev' has pending operations: creating NodeGroup ")
    assert finding.remedy.index("`pulumi stack history --stack dev`") < finding.remedy.index("add these to the state")
    assert f"AWS has {group.id} (ACTIVE)" in finding.remedy
    assert finding.repair
    finding.repair()
    (after,) = imports(looking)
    entered = {each["urn"]: each["id"] for each in after["deployment"]["resources"]}
    assert (entered[group.urn], entered[route.urn]) == (group.id, route.id)
    assert after["version"] == 3
    assert looking.pending() == []
    assert looking.leftovers() == []


def test_what_was_not_made_is_said_and_dropped(account: Account, resources: list[Resource]) -> None:
    group = one(resources, NODE_GROUP)
    ghost = replace(group, urn=f"{group.urn}-ghost", inputs={**group.inputs, "nodeGroupName": "test-ghost-0000000"})
    looking = recovery(account, state(resources, pending=(ghost,)))
    (finding,) = looking.pending()
    assert "NodeGroup" in finding.remedy
    assert "was not created" in finding.remedy
    assert finding.repair
    finding.repair()
    assert ghost.urn not in {each["urn"] for each in imports(looking)[0]["deployment"]["resources"]}


def test_two_that_it_may_be_are_listed_and_none_is_taken(account: Account, resources: list[Resource]) -> None:
    table, route = one(resources, "aws:ec2/routeTable:RouteTable"), one(resources, ROUTE)
    tags = [{"Key": key, "Value": value} for key, value in table.inputs["tagsAll"].items()]
    ec2 = boto3.client("ec2")
    specification = [{"ResourceType": "route-table", "Tags": tags}]
    second = ec2.create_route_table(VpcId=table.inputs["vpcId"], TagSpecifications=specification)["RouteTable"]
    try:
        looking = recovery(account, state(resources, pending=(table, route)))
        whole, ambiguous = looking.pending()
        assert table.id in ambiguous.found
        assert second["RouteTableId"] in ambiguous.found
        assert ambiguous.repair is None
        assert whole.repair
        whole.repair()
        (left,) = imports(looking)[0]["deployment"]["pending_operations"]
        assert left["resource"]["urn"] == table.urn
    finally:
        ec2.delete_route_table(RouteTableId=second["RouteTableId"])


def test_something_of_somebody_else_stays_out_of_the_state(account: Account, resources: list[Resource]) -> None:
    logs = one(resources, "aws:cloudwatch/logGroup:LogGroup")
    (finding,) = recovery(replace(account, stack="another"), state(resources, pending=(logs,))).pending()
    assert "which lacks this stack's tag" in finding.remedy


def test_a_state_that_somebody_changed_meanwhile_is_not_overwritten(
    account: Account, resources: list[Resource]
) -> None:
    looking = recovery(account, state(resources, pending=(one(resources, ROUTE),)))
    (finding,) = looking.pending()
    assert isinstance(looking.session, Scripted)
    looking.session.exported["deployment"]["manifest"] = {"time": "now"}
    assert finding.repair
    with pytest.raises(UserError, match="changed in the meantime"):
        finding.repair()
    assert imports(looking) == []


def test_a_lock_in_a_backend_elsewhere_ends_with_the_way_out(account: Account, resources: list[Resource]) -> None:
    looking = recovery(
        account, state(resources, pending=(one(resources, ROUTE),)), refuses="currently locked by 1 lock(s)"
    )
    (finding,) = looking.pending()
    assert finding.repair
    with pytest.raises(UserError, match="currently locked") as caught:
        finding.repair()
    assert "`pulumi cancel`" in caught.value.hint


@pytest.mark.parametrize(("host", "is_ours"), [("", True), ("elsewhere", False)])
def test_a_stale_lock_of_a_file_backend_is_broken_if_its_process_was_here(
    account: Account, resources: list[Resource], tmp_path: Path, host: str, is_ours: bool
) -> None:
    folder = tmp_path / ".pulumi" / "locks" / "organization" / APP / "dev"
    folder.mkdir(parents=True)
    lock = folder / "1.json"
    lock.write_text(said(2**22 + 1, host))
    (finding,) = recovery(account, state(resources), backend=f"file://{tmp_path}").files()
    assert (finding.repair is not None) is is_ours
    if finding.repair:
        finding.repair()
        assert not lock.exists()


def test_a_state_file_that_a_kill_cut_off_is_put_back_from_the_last_whole_copy(
    account: Account, resources: list[Resource], tmp_path: Path
) -> None:
    files = StateFiles("dev", tmp_path)
    write(files.current.with_suffix(".json.bak"), checkpoint("before"))
    write(files.current, b"")
    looking = recovery(account, state(resources), backend=f"file://{tmp_path}")
    (finding,) = looking.files()
    assert finding.found == f"The state file {files.current} is damaged: the file is empty."
    assert finding.repair
    finding.repair()
    assert [each["urn"] for each in files.deployment()["resources"]] == ["before"]
    assert looking.files() == []


def test_what_is_still_being_made_is_waited_for(
    account: Account, resources: list[Resource], made: tuple[Account, list[Resource], Emulator]
) -> None:
    group, said = one(resources, NODE_GROUP), list[str]()
    name, emulator = "test-slow-0a1b2c3", made[2]
    emulator.set_scale(0.01)
    try:
        boto3.client("eks").create_nodegroup(
            clusterName=group.inputs["clusterName"],
            nodegroupName=name,
            nodeRole=group.inputs["nodeRoleArn"],
            subnets=group.inputs["subnetIds"],
            tags=group.inputs["tagsAll"],
        )
        slow = replace(group, urn=f"{group.urn}-slow", inputs={**group.inputs, "nodeGroupName": name})
        looking = recovery(account, state(resources, pending=(slow,)), said)
        (finding,) = looking.pending()
        assert "(CREATING); recovery waits until it is finished" in finding.remedy
        assert finding.repair
        finding.repair()
    finally:
        emulator.set_scale(0)
        boto3.client("eks").delete_nodegroup(clusterName=group.inputs["clusterName"], nodegroupName=name)
    assert said
    assert imports(looking)


# --- What a plug-in that died left ------------------------------------------------------------------------------------


def step(resource: Resource, **fresh: str) -> dict[str, Any]:
    new = {**resource.state, "inputs": {**resource.inputs, **fresh}, "provider": REFERENCE}
    return {"op": "create", "urn": resource.urn, "newState": new}


def test_what_a_dead_plug_in_made_is_entered_instead_of_being_made_twice(
    account: Account, resources: list[Resource]
) -> None:
    group, route = one(resources, NODE_GROUP), one(resources, ROUTE)
    name = group.urn.rpartition("::")[2]
    preview = {"steps": [step(group, nodeGroupName=f"{name}-fffffff"), step(route)]}
    looking = recovery(account, state(resources, group, route), preview=preview)
    (finding,) = looking.missing_from_state()
    assert finding.found.startswith("2 resources of this stack in AWS")
    assert finding.repair
    finding.repair()
    entered = {each["urn"]: each for each in imports(looking)[0]["deployment"]["resources"]}
    assert entered[group.urn]["id"] == group.id
    assert entered[group.urn]["inputs"] == group.inputs
    assert entered[route.urn]["id"] == route.id
    assert looking.leftovers() == []


def test_what_the_program_would_make_and_aws_lacks_is_no_finding(account: Account, resources: list[Resource]) -> None:
    group = one(resources, NODE_GROUP)
    new = replace(group, urn=group.urn.replace("::test-", "::test-new-"))
    assert recovery(account, state(resources), preview={"steps": [step(new)]}).missing_from_state() == []


def test_what_nobody_wants_is_listed_with_commands_and_never_deleted(
    account: Account, resources: list[Resource]
) -> None:
    group = one(resources, NODE_GROUP)
    (finding,) = recovery(account, state(resources, group)).leftovers()
    name = group.id.partition(":")[2]
    assert finding.found == f"In AWS, tagged with this stack, but not in its state: NodeGroup {group.id} (ACTIVE)."
    assert f"aws eks describe-nodegroup --cluster-name research --nodegroup-name {name}" in finding.remedy
    assert "aws eks delete-nodegroup" in finding.remedy
    assert finding.repair is None


def test_of_data_it_is_said_that_it_is_lost(account: Account, resources: list[Resource]) -> None:
    data = next(each for each in resources if each.type == NODE_GROUP and "-data-" in each.id)
    (finding,) = recovery(account, state(resources, data)).leftovers()
    assert finding.remedy.startswith("Deleting it loses its data.")
