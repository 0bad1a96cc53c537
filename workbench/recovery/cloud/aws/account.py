"""AWS queries for recovery and `up`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import boto3
from typing_extensions import override

from components.contract.access import AccessLevel
from components.contract.aws import account_of
from components.contract.eks.access import Access
from components.contract.eks.backup import NAMESPACES_MAX
from components.contract.eks.config import EksConfig
from workbench.engine.clouds.cluster_component import ClusterComponent, Condition
from workbench.engine.clouds.eks.conditions import conditions
from workbench.engine.clouds.way_back import WayBack
from workbench.recovery.cloud.account import Account
from workbench.recovery.cloud.aws.queries import LOG_IN, AwsQueries, asking
from workbench.recovery.cloud.aws.restore import command, recovery_points, restore_jobs
from workbench.recovery.cloud.aws.searches import SEARCHES, search
from workbench.recovery.cloud.aws.tagged_resources import tagged_resources
from workbench.recovery.cloud.aws.way_back import way_back
from workbench.recovery.cloud.cloud_resource import CloudResource
from workbench.recovery.cloud.lookup import LookupQuery, LookupResult
from workbench.recovery.cloud.recovery_point import RecoveryPoint
from workbench.recovery.cloud.restore_job import RestoreJob
from workbench.system.errors import UserError


@dataclass(frozen=True)
class AwsAccount(AwsQueries, Account):
    """One account and region of AWS.

    Parameters
    ----------
    access
        Who may access the stack's cluster.
    """

    access: Access

    place = "AWS"
    namespaces_max = NAMESPACES_MAX
    restores_by_role = True

    @override
    def require_cluster_admin(self) -> None:
        caller = self.look_up("sts", "get_caller_identity")["Arn"]
        entries = self.access.all_entries.values()
        admins = [entry.role_arn for entry in entries if entry.level is AccessLevel.CLUSTER_ADMIN]
        if not any(is_session_of(caller, role) for role in admins):
            raise UserError(
                f"Your credentials belong to {caller}, which is not cluster admin of '{self.stack}': the cluster would "
                f"be created and then refuse to let you in. Cluster admins in the stack file: {', '.join(admins)}.",
                "Assume one of these roles, usually access.deployerRoleArn, or correct the stack file. "
                "Nothing was changed.",
            )

    @override
    def conditions(self, components: Sequence[ClusterComponent]) -> Mapping[str, Condition]:
        return conditions(components, self.look_up)

    @override
    def way_back(self) -> WayBack:
        return way_back(self, datetime.now(UTC))

    @override
    def knows(self, type_: str) -> bool:
        return type_ in SEARCHES

    @override
    def search(self, query: LookupQuery) -> list[LookupResult]:
        return search(self, query)

    @override
    def tagged_resources(self) -> list[CloudResource]:
        return tagged_resources(self)

    @override
    def recovery_points(self) -> list[RecoveryPoint]:
        return recovery_points(self)

    @override
    def restore_jobs(self) -> list[RestoreJob]:
        return restore_jobs(self)

    @override
    def restore_command(self, point: RecoveryPoint, role: str, *, namespaces: Sequence[str], zone: str) -> str:
        return command(self, point, role, namespaces=namespaces, zone=zone)


def is_session_of(caller: str, role: str) -> bool:
    """Return whether the ARN of a caller is that of a session of a role.

    A session's ARN has the role's name without its path, and names are unique in an account:
    https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html.
    """
    kind, _, session = caller.rpartition(":")[2].partition("/")
    name = session.partition("/")[0]
    return (kind, account_of(caller), name) == ("assumed-role", account_of(role), role.rpartition("/")[2])


def open_account(stack: str, choices: EksConfig) -> AwsAccount:
    """Return the account of a stack, after checking that the credentials belong to it.

    Raises
    ------
    UserError
        Credentials are missing, have expired, or belong to another account.
    """
    with asking("sts", "get_caller_identity"):
        session = boto3.Session(region_name=choices.region)
        account = AwsAccount(session, stack, choices.name, choices.access)
    identity = account.look_up("sts", "get_caller_identity")
    if identity["Account"] != choices.account_id:
        raise UserError(
            f"Your credentials belong to the account {identity['Account']}, but the stack '{stack}' is in "
            f"{choices.account_id}.",
            LOG_IN,
        )
    return account
