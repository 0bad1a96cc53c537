"""When work arrives."""

from collections.abc import Iterator

from pydantic import Field

from components.contract.choices import ContractModel
from workbench.rehearsal.scenario.durations import Duration, Moment

ARRIVALS_MAX = 20_000
"""Maximum number of units in a scenario."""


class Arrival(ContractModel):
    """Units of one work that arrive at once or one after the other."""

    work: str = Field(description="Name under works.", examples=["train"])
    at: Moment = Field(0, validate_default=False, description="When the first unit arrives.", examples=["5m"])
    count: int = Field(1, ge=1, le=ARRIVALS_MAX, strict=True, description="How many units arrive.", examples=[10])
    every: Duration | None = Field(None, description="Time between two units. Default: all at once.", examples=["1m"])
    stays: Duration | None = Field(
        None, description="When a unit is deleted, counted from its arrival. Default: never.", examples=["8h"]
    )

    @property
    def moments(self) -> Iterator[int]:
        """When each unit arrives, in seconds since the start."""
        return (self.at + index * (self.every or 0) for index in range(self.count))
