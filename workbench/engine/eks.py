"""What EKS itself says about the parts of a cluster: the state has no health, and of add-ons not even a status."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from workbench.engine.causes import SESSION, is_expired
from workbench.engine.parts import ADDON, CLUSTER, GROUP, Part
from workbench.errors import UserError

ACTIVE: Final = "ACTIVE"

MOVING: Final = frozenset({"CREATING", "UPDATING", "DELETING", "PENDING"})
"""EKS works on it, and refuses changes until it is done."""

NEVER_MADE: Final = frozenset({"CREATE_FAILED", "DELETE_FAILED", "FAILED"})
"""It does not come back by itself: https://docs.aws.amazon.com/eks/latest/APIReference/API_Nodegroup.html."""


@dataclass(frozen=True)
class Condition:
    """How a part is now.

    Parameters
    ----------
    status
        EKS's word; empty if nobody knows.
    issues
        Why, in EKS's words, each with its code.
    """

    status: str
    issues: tuple[str, ...] = ()

    @property
    def is_in_order(self) -> bool:
        """Whether nothing is to be said about it."""
        return self.status in (ACTIVE, "")


Conditions = Mapping[str, Condition]
"""By URN."""


def condition(part: Part, conditions: Conditions) -> Condition:
    """Return how ``part`` is: as EKS said, else as the state has it."""
    return conditions.get(part.urn) or Condition(part.status)


def conditions(parts: Iterable[Part], region: str) -> dict[str, Condition]:
    """Ask EKS about each part, with the credentials of this process. What is not there is left out.

    Raises
    ------
    UserError
        EKS cannot be asked: whatever is said without its answer may be wrong.
    """
    # Imported where a cloud is asked: it costs a quarter of a second, and most commands ask none.
    import botocore.session  # noqa: PLC0415
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415

    parts = list(parts)
    if not parts:
        return {}
    try:
        client = botocore.session.Session().create_client("eks", region_name=region)
        found = ((part.urn, _ask(client, part)) for part in parts)
        return {urn: told for urn, told in found if told}
    except (BotoCoreError, ClientError) as error:
        way = SESSION if is_expired([str(error)]) else _CREDENTIALS
        raise UserError(f"EKS cannot be asked how the cluster in {region} is: {error}", way) from None


_CREDENTIALS: Final = (
    "The credentials of this shell (AWS_PROFILE and the like) must allow eks:DescribeCluster, eks:DescribeNodegroup "
    "and eks:DescribeAddon."
)


def _ask(client: Any, part: Part) -> Condition | None:
    ask: Mapping[str, tuple[Callable[..., Any], dict[str, str], str]] = {
        CLUSTER: (client.describe_cluster, {"name": part.name}, "cluster"),
        ADDON: (client.describe_addon, {"clusterName": part.cluster, "addonName": part.name}, "addon"),
        GROUP: (client.describe_nodegroup, {"clusterName": part.cluster, "nodegroupName": part.name}, "nodegroup"),
    }
    call, arguments, key = ask[part.type]
    try:
        told = call(**arguments)[key]
    except client.exceptions.ResourceNotFoundException:
        return None
    issues = told.get("health", {}).get("issues", ())
    return Condition(told.get("status", ""), tuple(map(_words, issues)))


def _words(issue: Mapping[str, Any]) -> str:
    where = ", ".join(issue.get("resourceIds") or ())
    return f"{issue.get('code', '?')}: {issue.get('message', '')}" + (f" ({where})" if where else "")
