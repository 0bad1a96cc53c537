"""Reserved capacity: machines that the account has paid for or holds, in one zone, instead of spot or on-demand.

A pool names a reservation and never buys one: a purchase spends money at once and cannot be undone.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import Field

from components.contract.choices import ContractModel, Explained, Findings
from components.contract.lifecycle import Lifecycle
from components.contract.roles import PoolRole

ROLES: Final = (PoolRole.GPU, PoolRole.WORKLOAD)
"""Roles of pools whose capacity may be reserved."""

_ID_MAX: Final = 400


class Reservation(ContractModel):
    """The reservation whose capacity a pool uses."""

    id: str = Field(
        min_length=1,
        max_length=_ID_MAX,
        description="EKS: id of a capacity reservation or block, or ARN of a resource group of reservations. AKS: id "
        "of a capacity reservation group.",
        examples=["cr-0a91582543292e10a"],
    )
    block: Annotated[bool, Explained("Other reservations have no end.")] = Field(
        False,  # noqa: FBT003 it is the default of the key
        strict=True,
        description="Whether it is a capacity block for machine learning; EKS only.",
        examples=[True],
    )


def require_reservation(reservation: Reservation | None, choices: Mapping[str, Any]) -> None:
    """Refuse a reservation that does not fit its pool, or a missing one that the pool's lifecycle requires.

    Parameters
    ----------
    reservation
        The reservation; None if the pool names none.
    choices
        The pool's valid fields so far.

    Raises
    ------
    ValidationError
        With every problem.
    """
    lifecycle, findings = choices.get("lifecycle"), Findings()
    if reservation is None:
        if lifecycle is Lifecycle.RESERVED:
            findings.add("is required with lifecycle: reserved: {id: ...} of the capacity that the pool uses")
        findings.raise_if_any()
        return
    if lifecycle not in (Lifecycle.RESERVED, None):
        findings.add("needs lifecycle: reserved; set that, or remove it")
    if "zone" in choices and not choices["zone"]:
        findings.add("needs zone: a reservation is in one zone, and so are the pool's nodes")
    if len(choices.get("instance_types", ())) > 1:
        findings.add("needs a pool with one machine type, that of the reservation")
    if reservation.block and choices.get("role") not in (PoolRole.GPU, None):
        findings.add("is for pools of role 'gpu' only; remove it", "block", given=True)
    size = choices.get("size")
    if reservation.block and size and size.min:
        findings.add(
            "needs size.min: 0, because EKS starts no node before the block begins and removes all before it ends",
            "block",
        )
    findings.raise_if_any()
