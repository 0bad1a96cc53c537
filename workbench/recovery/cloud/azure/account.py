"""Azure queries for recovery and `up`."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from typing_extensions import override

from components.contract.aks.backup import NAMESPACES_MAX
from components.contract.aks.config import AksConfig
from workbench.engine.clouds.aks.conditions import conditions
from workbench.engine.clouds.blocker import Blocker
from workbench.engine.clouds.cluster_component import ClusterComponent, Condition
from workbench.offline.azure.facts import facts
from workbench.recovery.cloud.account import Account
from workbench.recovery.cloud.azure import restore
from workbench.recovery.cloud.azure.queries import LOG_IN, AzureQueries, Connect, arm
from workbench.recovery.cloud.azure.searches import search
from workbench.recovery.cloud.azure.tagged_resources import foreign_resources, tagged_resources
from workbench.recovery.cloud.cloud_resource import CloudResource
from workbench.recovery.cloud.lookup import LookupQuery, LookupResult
from workbench.recovery.cloud.recovery_point import RecoveryPoint
from workbench.recovery.cloud.restore_job import RestoreJob
from workbench.system.errors import UserError

SUBSCRIPTIONS: Final = "2022-12-01"
"""API version for subscriptions: https://learn.microsoft.com/rest/api/resources/subscriptions/get."""


@dataclass(frozen=True)
class AzureAccount(AzureQueries, Account):
    """One subscription of Azure."""

    place = "Azure"
    namespaces_max = NAMESPACES_MAX
    restores_partial = True

    @override
    def conditions(self, components: Sequence[ClusterComponent]) -> Mapping[str, Condition]:
        return conditions(components, self.choices.cluster_id, self.look_up)

    @override
    def knows(self, type_: str) -> bool:
        return type_ in facts().resources

    @override
    def search(self, query: LookupQuery) -> list[LookupResult]:
        return search(self, query)

    @override
    def tagged_resources(self) -> list[CloudResource]:
        return tagged_resources(self)

    @override
    def recovery_points(self) -> list[RecoveryPoint]:
        return restore.recovery_points(self)

    @override
    def restore_jobs(self) -> list[RestoreJob]:
        return restore.restore_jobs(self)

    @override
    def backup_problem(self) -> str:
        return restore.problem(self) if self.choices.backup else ""

    @override
    def restore_command(self, point: RecoveryPoint, role: str, *, namespaces: Sequence[str], zone: str) -> str:
        return restore.command(self, point, namespaces)

    @override
    def foreign_resources(self, recorded: Collection[str]) -> list[Blocker]:
        return foreign_resources(self, recorded)


def open_account(stack: str, choices: AksConfig, connect: Connect = arm) -> AzureAccount:
    """Return the subscription of a stack, after checking that the credentials have access to it.

    Parameters
    ----------
    connect
        Connects to ARM. Default: the public cloud, with the credentials that Pulumi's provider uses.

    Raises
    ------
    UserError
        Credentials are missing, have expired, or have no access to that subscription.
    """
    account = AzureAccount(*connect(choices), stack, choices)
    response = account.get(f"/subscriptions/{choices.subscription_id}", SUBSCRIPTIONS)
    if not response:
        raise UserError(
            f"Your credentials have no access to the subscription {choices.subscription_id} of the stack '{stack}'.",
            LOG_IN,
        )
    if response.get("tenantId", choices.tenant_id) != choices.tenant_id:
        raise UserError(
            f"The subscription {choices.subscription_id} is in the tenant {response['tenantId']}, but the stack "
            f"'{stack}' has {choices.tenant_id}.",
            "Correct cluster.tenantId in the stack file.",
        )
    return account
