"""What the real program makes in AWS is found again: each resource in turn, as if the run was killed meanwhile."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import boto3
import pytest

from emulators.aws.client import Emulator, running
from support.aws_cloud_resources import BACKUP, MORE, NEAR, account_at, build_in_aws
from support.cloud_state import Resource
from workbench.offline.aws.facts import facts
from workbench.recovery.cloud.aws.account import AwsAccount
from workbench.recovery.cloud.aws.searches import SEARCHES, search
from workbench.recovery.cloud.lookup import LookupQuery
from workbench.recovery.cloud.plan import Answer, Outcome, answer_of, identities, pending_creations, repaired

TYPES = sorted(facts().resources)


@dataclass(frozen=True)
class Made:
    """A stack that is whole in AWS."""

    account: AwsAccount
    resources: list[Resource]

    def others(self, killed: Resource) -> dict[str, Any]:
        """The state of a run that was killed while it made one thing."""
        rest = [each.state for each in self.resources if each is not killed]
        return {"resources": rest, "pending_operations": [killed.pending]}


@pytest.fixture(scope="module", params=["dev", pytest.param("prod", marks=pytest.mark.full)])
def made(request: pytest.FixtureRequest) -> Iterator[Made]:
    with running() as emulator, pytest.MonkeyPatch.context() as patch:
        account = account_at(emulator, patch)
        private = {"cluster.publicAccessCidrs": None} if request.param == "prod" else {}
        hours = {"from": "08:00", "to": "19:00", "timeZone": "UTC", "nightMin": 1}
        scheduled = {"pools.workload.size": {"min": 2, "max": 9}, "pools.workload.officeHours": hours}
        more = {**private, **scheduled, **MORE, **BACKUP, **NEAR}
        yield Made(account, build_in_aws({"environment": request.param, **more}))


def asked(account: AwsAccount, deployment: dict[str, Any]) -> list[Answer]:
    def is_ours(found: Any) -> bool:
        return found.tags is None or account.is_ours(found.tags)

    taken = identities(deployment)
    return [answer_of(each, search(account, each), taken, is_ours) for each in pending_creations(deployment)]


def test_every_type_has_a_way_to_be_found() -> None:
    assert set(SEARCHES) == set(facts().resources)


def test_dev_and_prod_have_every_type(made: Made) -> None:
    prod_only = {"aws:ec2/flowLog:FlowLog"}
    seen = {resource.type for resource in made.resources}
    assert set(TYPES) - seen <= prod_only
    assert seen <= set(TYPES)


@pytest.mark.parametrize("type_", TYPES)
def test_what_a_killed_run_was_making_is_found_under_its_id(made: Made, type_: str) -> None:
    for resource in (each for each in made.resources if each.type == type_):
        deployment = made.others(resource)
        (entered,) = [
            r for r in repaired(deployment, asked(made.account, deployment))["resources"] if r["urn"] == resource.urn
        ]
        assert entered["id"] == resource.id
        assert (
            entered["outputs"].items() >= {k: v for k, v in resource.inputs.items() if not k.startswith("__")}.items()
        )


@pytest.mark.parametrize("type_", TYPES)
def test_what_a_killed_run_did_not_come_to_make_is_not_there(
    made: Made, type_: str, nothing: Emulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = account_at(nothing, monkeypatch)
    for resource in (each for each in made.resources if each.type == type_):
        deployment = made.others(resource)
        answers = asked(elsewhere, deployment)
        assert [answer.outcome for answer in answers] == [Outcome.ABSENT]
        assert repaired(deployment, answers)["resources"] == deployment["resources"]


@pytest.mark.parametrize("type_", TYPES)
def test_what_a_dead_plug_in_made_is_found_although_its_automatic_name_is_lost(made: Made, type_: str) -> None:
    for resource in (each for each in made.resources if each.type == type_):
        fresh = {key: f"{resource.urn.rpartition('::')[2]}-fffffff" for key in resource.inputs["__defaults"]}
        wanted = LookupQuery(resource.urn, resource.type, {**resource.inputs, **fresh}, is_planned=True)
        assert [found.id for found in search(made.account, wanted)] == [resource.id]


@pytest.mark.parametrize("type_", TYPES)
def test_what_another_stack_made_is_not_ours(made: Made, type_: str) -> None:
    """Types without tags live in something that has some, and are found through it."""
    stranger = replace(made.account, stack="another")
    for resource in (each for each in made.resources if each.type == type_):
        for answer in asked(stranger, made.others(resource)):
            tagged = [found for found in answer.candidates if found.tags is not None]
            assert answer.outcome is not Outcome.CREATED or not tagged


def test_a_role_of_the_stack_of_the_same_name_in_another_region_is_not_ours(made: Made) -> None:
    """IAM shows all roles of an account in every region."""
    elsewhere = replace(made.account, session=boto3.Session(region_name="us-east-1"))
    roles = [each for each in made.resources if each.type == "aws:iam/role:Role"]
    assert roles
    for role in roles:
        assert [answer.outcome for answer in asked(elsewhere, made.others(role))] == [Outcome.FOREIGN]


def second_key(account: AwsAccount, description: str) -> str:
    """Make a key as a provider does that asks again because the first answer was lost."""
    tags = [{"TagKey": key, "TagValue": value} for key, value in account.tags.items()]
    made: str = boto3.client("kms").create_key(Description=description, Tags=tags)["KeyMetadata"]["KeyId"]
    return made


def test_of_two_keys_the_one_with_the_alias_is_adopted(made: Made) -> None:
    (key,) = (each for each in made.resources if each.type == "aws:kms/key:Key")
    others = [second_key(made.account, key.inputs["description"]) for _ in range(3)]
    try:
        assert [answer.made and answer.made.id for answer in asked(made.account, made.others(key))] == [key.id]
    finally:
        for other in others:
            boto3.client("kms").schedule_key_deletion(KeyId=other)


def test_of_two_keys_that_nothing_uses_one_is_adopted(nothing: Emulator, monkeypatch: pytest.MonkeyPatch) -> None:
    account = account_at(nothing, monkeypatch)
    keys = [second_key(account, "Secrets") for _ in range(2)]
    (found,) = search(account, LookupQuery("a::b::c::key", "aws:kms/key:Key", {"description": "Secrets"}))
    assert found.id in keys
    for each in keys:
        boto3.client("kms").schedule_key_deletion(KeyId=each)


def test_a_rule_outwards_is_not_taken_for_one_inwards_and_says_all_of_the_same(made: Made) -> None:
    group = next(each.id for each in made.resources if each.type == "aws:ec2/vpc:Vpc")
    ec2 = boto3.client("ec2")
    own = ec2.create_security_group(GroupName="rules", Description="rules", VpcId=group)["GroupId"]
    permission = {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "IpRanges": [{"CidrIp": "10.0.0.0/8"}]}
    answer = ec2.authorize_security_group_egress(GroupId=own, IpPermissions=[permission])
    rule = answer["SecurityGroupRules"][0]["SecurityGroupRuleId"]
    inputs = {"securityGroupId": own, "ipProtocol": "tcp", "fromPort": 443, "toPort": 443, "cidrIpv4": "10.0.0.0/8"}

    def ids(direction: str, **other: Any) -> list[str]:
        type_ = f"aws:vpc/securityGroup{direction}Rule:SecurityGroup{direction}Rule"
        return [found.id for found in search(made.account, LookupQuery("a::b::c::rule", type_, {**inputs, **other}))]

    assert ids("Egress") == [rule]
    assert ids("Ingress") == []
    assert ids("Egress", toPort=444) == ids("Egress", cidrIpv4="10.0.0.0/9") == ids("Egress", ipProtocol="udp") == []


def test_a_resource_of_what_is_not_known_yet_is_not_looked_for(made: Made) -> None:
    wanted = LookupQuery(
        "a::b::c::route", "aws:ec2/route:Route", {"destinationCidrBlock": "0.0.0.0/0"}, is_planned=True
    )
    assert search(made.account, wanted) == []
