"""What recovery and `up` ask Azure about a stack."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from typing_extensions import override

from components.contract.aks.choices import AksChoices
from workbench.clouds.azure.facts import IDS
from workbench.engine.clouds.aks.conditions import conditions
from workbench.engine.clouds.part import Condition, Part
from workbench.errors import UserError
from workbench.recovery.cloud.account import Account
from workbench.recovery.cloud.azure.carrying import carrying
from workbench.recovery.cloud.azure.queries import LOG_IN, AzureQueries, arm
from workbench.recovery.cloud.azure.searches import search
from workbench.recovery.cloud.found import Found, Wanted
from workbench.recovery.cloud.thing import Thing

SUBSCRIPTIONS: Final = "2022-12-01"
"""Version of the API that tells of subscriptions: https://learn.microsoft.com/rest/api/resources/subscriptions/get."""


@dataclass(frozen=True)
class AzureAccount(AzureQueries, Account):
    """One subscription of Azure."""

    place = "Azure"

    @override
    def conditions(self, parts: Sequence[Part]) -> Mapping[str, Condition]:
        return conditions(parts, self.choices.cluster_id, self.look_up)

    @override
    def knows(self, type_: str) -> bool:
        return type_ in IDS

    @override
    def search(self, wanted: Wanted) -> list[Found]:
        return search(self, wanted)

    @override
    def carrying(self) -> list[Thing]:
        return carrying(self)


def open_account(stack: str, choices: AksChoices) -> AzureAccount:
    """Return the subscription of a stack, after a look whether the credentials see it.

    Raises
    ------
    UserError
        There are no credentials, they have expired, or they do not see that subscription.
    """
    account = AzureAccount(*arm(choices), stack, choices)
    told = account.get(f"/subscriptions/{choices.subscription_id}", SUBSCRIPTIONS)
    if not told:
        raise UserError(
            f"Your credentials do not see the subscription {choices.subscription_id}, in which the stack '{stack}' is: "
            "what they see says nothing about the stack.",
            LOG_IN,
        )
    if told.get("tenantId", choices.tenant_id) != choices.tenant_id:
        raise UserError(
            f"The subscription {choices.subscription_id} is in the tenant {told['tenantId']}, and the stack '{stack}' "
            f"says {choices.tenant_id}.",
            "Mend cluster.tenantId in the stack file.",
        )
    return account
