"""Automatic upgrades of an AKS cluster, and when they may happen."""

from enum import StrEnum

from pydantic import Field
from typing_extensions import override

from components.contract.choices import ContractModel
from components.contract.hours import Weekday


class UpgradeChannel(StrEnum):
    """Automatic upgrades of the patch version.

    Channels that upgrade the minor version would conflict with ``version``.
    """

    PATCH = "patch"
    NONE = "none"


class NodeImageChannel(StrEnum):
    """How nodes receive operating system updates, in the stack file's spelling."""

    NODE_IMAGE = "node-image"
    """A new node image every week, rolled out node by node."""

    SECURITY_PATCH = "security-patch"
    """Security fixes only, mostly without replacing nodes."""

    NONE = "none"
    """Manual upgrades only."""

    @property
    def azure(self) -> str:
        """Azure's spelling (``NodeImage``)."""
        return self.value.title().replace("-", "")


class Maintenance(ContractModel):
    """Weekly window in which AKS may upgrade automatically."""

    day: Weekday = Field(description="Day of the week, UTC.", examples=["sunday"])
    start_hour: int = Field(ge=0, le=23, strict=True, description="Hour at which the window begins, UTC.", examples=[2])
    # AKS may not finish in less than four hours, and then does not begin.
    # https://learn.microsoft.com/azure/aks/planned-maintenance
    hours: int = Field(ge=4, le=24, strict=True, description="Length of the window in hours.", examples=[6])

    @property
    def azure_day(self) -> str:
        """Its day as Azure spells it (``Monday``)."""
        return self.day.value.title()

    @property
    def start_time(self) -> str:
        """Its start as Azure writes it, such as ``02:00``."""
        return f"{self.start_hour:02}:00"

    @override
    def __str__(self) -> str:
        """Return the window as readable text."""
        return f"{self.day} {self.start_time} UTC, {self.hours} hours"
