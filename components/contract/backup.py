"""Backups of a whole cluster: how often, when, and how long they are kept, in the same words on every cloud."""

from enum import StrEnum
from typing import Annotated, Final

from pydantic import Field

from components.contract.choices import ContractModel, Explained

KEEP_DAYS_MAX: Final = 360
"""Maximum number of days: the most that Azure Backup keeps in its operational tier.

https://learn.microsoft.com/azure/backup/azure-kubernetes-service-cluster-backup-support-matrix
"""

DAY_HOURS: Final = 24


class Interval(StrEnum):
    """Time between two backups: those that Azure Backup offers for AKS, which AWS Backup can keep too."""

    FOUR_HOURS = "4h"
    EIGHT_HOURS = "8h"
    TWELVE_HOURS = "12h"
    DAY = "day"

    @property
    def hours(self) -> int:
        """Length in hours."""
        return DAY_HOURS if self is Interval.DAY else int(self.value.removesuffix("h"))


class Backup(ContractModel):
    """Choices about the backups of a cluster."""

    every: Annotated[
        Interval,
        Explained("Most teams can repeat the work of a day.", "How much work the loss of a volume costs at most."),
    ] = Field(Interval.DAY, description="Time between two backups.", examples=["12h"])
    start_hour: Annotated[int, Explained("Between midnight and the morning of Europe, where jobs are fewest.")] = Field(
        2,
        ge=0,
        le=DAY_HOURS - 1,
        strict=True,
        description="Hour of the day in UTC at which a backup begins.",
        examples=[22],
    )
    keep_days: Annotated[
        int,
        Explained("A month with its weekends is enough to notice most losses.", "What backups cost."),
    ] = Field(
        35, ge=1, le=KEEP_DAYS_MAX, strict=True, description="Days after which a backup is deleted.", examples=[90]
    )

    @property
    def hours(self) -> tuple[int, ...]:
        """Hours of the day in UTC at which backups begin."""
        return tuple(sorted((self.start_hour + begun) % DAY_HOURS for begun in range(0, DAY_HOURS, self.every.hours)))
