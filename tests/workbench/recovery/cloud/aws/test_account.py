from dataclasses import replace

import boto3
import pytest

from components.contract.eks.config import EksConfig
from emulators.aws.client import Emulator
from emulators.core.faults import ErrorRule
from support import eks
from support.aws_cloud_resources import account_at
from support.cloud_state import STACK
from support.offline import ALL_COMMANDS, imported_by
from support.owners_roles import session
from workbench.recovery.cloud import open_account
from workbench.recovery.cloud.aws.account import AwsAccount, is_session_of
from workbench.system.errors import UserError


def choices() -> EksConfig:
    found = eks.config().cluster
    assert isinstance(found, EksConfig)
    return found


@pytest.fixture
def account(nothing: Emulator, monkeypatch: pytest.MonkeyPatch) -> AwsAccount:
    return account_at(nothing, monkeypatch)


def test_credentials_of_another_account_are_refused_before_anything_is_believed(account: AwsAccount) -> None:
    with pytest.raises(UserError, match="belong to the account 111122223333, but the stack 'test' is in 999999999999"):
        open_account(STACK, choices().model_copy(update={"account_id": "999999999999"}))


ROLE = "arn:aws:iam::111122223333:role/teams/platform/deployer"


@pytest.mark.parametrize(
    ("caller", "is_one"),
    [
        ("arn:aws:sts::111122223333:assumed-role/deployer/someone@example.com", True),
        ("arn:aws:sts::111122223333:assumed-role/other/deployer", False),
        ("arn:aws:sts::999999999999:assumed-role/deployer/session", False),
        ("arn:aws:iam::111122223333:user/deployer", False),
        ("arn:aws:iam::111122223333:root", False),
    ],
)
def test_a_session_is_known_by_its_roles_name_without_the_path(caller: str, is_one: bool) -> None:
    assert is_session_of(caller, ROLE) is is_one


def test_only_sessions_of_cluster_admins_may_create_a_cluster(
    account: AwsAccount, nothing: Emulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UserError, match="is not cluster admin of 'test'") as caught:
        account.require_cluster_admin()
    assert account.access.deployer_role_arn in caught.value.message
    for name, value in session(nothing.api("sts"), "break-glass").items():
        monkeypatch.setenv(name, value)
    open_account(STACK, choices()).require_cluster_admin()


def test_without_credentials_the_user_is_told_to_log_in(account: AwsAccount, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, "/nowhere")
    with pytest.raises(UserError, match="No AWS credentials found") as caught:
        open_account(STACK, choices())
    assert "the role that deploys" in caught.value.hint


def test_a_profile_that_is_not_there_is_no_traceback(account: AwsAccount, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    with pytest.raises(UserError, match="nobody"):
        open_account(STACK, choices())


@pytest.mark.parametrize(
    ("code", "status", "said"),
    [
        ("ExpiredTokenException", 400, r"credentials have expired \(ExpiredTokenException\)"),
        ("AccessDeniedException", 403, "AWS refused eks:list_nodegroups: not you"),
    ],
)
def test_what_aws_refuses_is_said_with_the_request(
    account: AwsAccount, nothing: Emulator, code: str, status: int, said: str
) -> None:
    nothing.set_faults(ErrorRule(operation="eks:ListNodegroups", code=code, status=status, message="not you"))
    try:
        with pytest.raises(UserError, match=said):
            account.listed("eks", "list_nodegroups", "nodegroups", clusterName="research")
    finally:
        nothing.set_faults()


@pytest.mark.full
def test_an_address_where_nobody_answers_is_no_traceback(monkeypatch: pytest.MonkeyPatch, account: AwsAccount) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    with pytest.raises(UserError, match="AWS did not answer sts:get_caller_identity"):
        open_account(STACK, choices())


def test_what_is_not_there_is_an_empty_answer(account: AwsAccount) -> None:
    assert account.look_up("eks", "describe_cluster", name="nobody") == {}
    assert account.look_up("iam", "get_role", RoleName="nobody") == {}
    assert account.listed("eks", "list_nodegroups", "nodegroups", clusterName="nobody") == []
    assert account.listed("ec2", "describe_route_tables", "RouteTables", RouteTableIds=["rtb-0123456789abcdef0"]) == []


def test_what_is_ours_carries_the_names_of_stack_cluster_and_region(account: AwsAccount) -> None:
    tags = {
        "igz-clusters.io/stack": STACK,
        "igz-clusters.io/cluster": account.cluster,
        "igz-clusters.io/region": "eu-west-1",
    }
    assert account.is_ours({**tags, "Name": "any"})
    assert not replace(account, stack="another").is_ours(tags)
    assert not replace(account, cluster="of-another-team").is_ours(tags)
    assert not replace(account, session=boto3.Session(region_name="us-east-1")).is_ours(tags)
    assert not account.is_ours({})


def test_the_command_line_does_not_load_the_clouds_sdk() -> None:
    assert "boto3" not in imported_by(ALL_COMMANDS)
