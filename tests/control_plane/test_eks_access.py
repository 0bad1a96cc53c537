"""Changes of who has access to a living EKS cluster on the AWS emulator: EKS then has what the stack file says."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from components.contract.aws import role_path
from emulators.aws.server import ACCOUNT
from support.aws_emulator import Account, writes
from support.lives import hollow

pytestmark = [pytest.mark.control_plane, pytest.mark.full]

ROLE = f"arn:aws:iam::{ACCOUNT}:role"
PLATFORM = {"roleArn": f"{ROLE}/platform-team", "level": "view", "groups": ["readers"]}
SCIENCE = {"roleArn": f"{ROLE}/data-science", "level": "edit", "namespaces": ["mlrun"]}
CLUSTER = "mlrun-dev"


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Account]:
    with hollow(Account, tmp_path_factory.mktemp("access"), "dev") as made:
        yield made


def up(account: Account, **entries: dict[str, Any]) -> list[str]:
    """Bring the stack up with access entries, and return the operations that change something."""
    account.edit("dev", cluster__access__entries=entries)
    last = account.last
    account.plain("dev", "up", "--yes", "--skip-preview")
    return [call.operation for call in writes(account.aws.calls(last))]


def access(account: Account, role: str) -> tuple[list[str], dict[str, Any]]:
    """Return the groups of a role's entry, and its policies with the namespaces of each."""
    eks, about = account.aws.api("eks"), {"clusterName": CLUSTER, "principalArn": f"{ROLE}/{role}"}
    policies = eks.list_associated_access_policies(**about)["associatedAccessPolicies"]
    return (
        eks.describe_access_entry(**about)["accessEntry"]["kubernetesGroups"],
        {each["policyArn"].rpartition("/")[2]: each["accessScope"]["namespaces"] for each in policies},
    )


def test_other_namespaces_are_where_the_access_is_afterwards(account: Account) -> None:
    up(account, platform=PLATFORM, science=SCIENCE)
    up(account, platform=PLATFORM, science={**SCIENCE, "namespaces": ["mlrun", "default"]})
    assert access(account, "data-science") == ([], {"AmazonEKSEditPolicy": ["mlrun", "default"]})


def test_groups_that_the_stack_file_no_longer_has_are_revoked(account: Account) -> None:
    up(account, platform=PLATFORM, science=SCIENCE)
    assert access(account, "platform-team")[0] == ["readers"]
    assert up(account, platform={**PLATFORM, "groups": []}, science=SCIENCE) == ["eks:UpdateAccessEntry"]
    assert access(account, "platform-team")[0] == []


def test_an_entry_that_loses_its_level_keeps_its_groups(account: Account) -> None:
    up(account, platform=PLATFORM, science=SCIENCE)
    groups_alone = {key: value for key, value in PLATFORM.items() if key != "level"}
    assert up(account, platform=groups_alone, science=SCIENCE) == ["eks:DisassociateAccessPolicy"]
    assert access(account, "platform-team") == (["readers"], {})


def test_an_entry_with_another_name_is_the_same_access(account: Account) -> None:
    up(account, platform=PLATFORM, science=SCIENCE)
    assert up(account, operators=PLATFORM, science=SCIENCE) == []
    assert access(account, "platform-team") == (["readers"], {"AmazonEKSViewPolicy": []})


def test_entries_that_swap_their_roles_swap_what_the_roles_may_do(account: Account) -> None:
    up(account, platform=PLATFORM, science=SCIENCE)
    swapped = {
        "platform": {**PLATFORM, "roleArn": SCIENCE["roleArn"]},
        "science": {**SCIENCE, "roleArn": PLATFORM["roleArn"]},
    }
    up(account, **swapped)
    assert access(account, "platform-team") == ([], {"AmazonEKSEditPolicy": ["mlrun"]})
    assert access(account, "data-science") == (["readers"], {"AmazonEKSViewPolicy": []})


def test_the_access_that_an_earlier_release_named_by_its_entries_stays(account: Account) -> None:
    up(account, platform=PLATFORM, science=SCIENCE)
    text = account.plain("dev", "stack", "export").stdout
    for name, entry in {"platform": PLATFORM, "science": SCIENCE}.items():
        text = text.replace(f"::dev-cluster-{role_path(entry['roleArn'])}", f"::dev-cluster-{name}")
    file = account.folder / "state.json"
    file.write_text(text)
    account.plain("dev", "stack", "import", "--file", str(file))
    assert "AccessEntry::dev-cluster-science" in json.dumps(account.state("dev"))
    assert up(account, platform=PLATFORM, science=SCIENCE) == []
    assert "AccessEntry::dev-cluster-science" not in json.dumps(account.state("dev"))
