"""When work arrives."""

from collections.abc import Iterator
from typing import Final

from pydantic import Field, ValidationInfo, field_validator

from components.contract.choices import ContractModel
from workbench.rehearsal.scenario.durations import Duration, Moment

ARRIVALS_MAX: Final = 20_000
"""Maximum number of units in a scenario."""


class Arrival(ContractModel):
    """Units of one work that arrive at once or one after the other."""

    work: str = Field(description="Name under works.", examples=["train"])
    at: Moment = Field(
        0,
        validate_default=False,
        description="When the first unit arrives, counted from the start. Default: at the start.",
        examples=["5m"],
    )
    count: int = Field(
        1, ge=1, le=ARRIVALS_MAX, strict=True, description="How many units arrive. Default: 1.", examples=[10]
    )
    every: Duration | None = Field(
        None, description="Time between two units. Default: all arrive at once.", examples=["1m"]
    )
    stays: Duration | None = Field(
        None,
        description="When a unit is deleted, counted from its arrival, as a user stops a notebook. Default: never.",
        examples=["8h"],
    )

    @field_validator("every", mode="after")
    @classmethod
    def _needs_several(cls, every: int | None, info: ValidationInfo) -> int | None:
        if every is not None and info.data.get("count") == 1:
            raise ValueError("has no effect with a count of 1; raise count or remove it")
        return every

    @property
    def moments(self) -> Iterator[int]:
        """When each unit arrives, in seconds since the start."""
        return (self.at + index * (self.every or 0) for index in range(self.count))

    @property
    def last(self) -> int:
        """When the last unit arrives, in seconds since the start."""
        return self.at + (self.count - 1) * (self.every or 0)
