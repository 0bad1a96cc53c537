"""Whether a cluster sleeps outside its office hours, which is neither drift nor an outage."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from components.contract.hours import OfficeHours
from workbench.engine.clouds.blocker import Blocker
from workbench.engine.clouds.cloud import Cloud
from workbench.engine.clouds.cluster_component import ClusterComponent, Conditions, Group, Rank, condition

WAKES_WITHIN: Final = timedelta(minutes=30)
"""How long a cluster may have no nodes once its hours have begun: schedules are late, and machines start. Assumed."""


def now() -> datetime:
    """Return the current time."""
    return datetime.now(UTC)


@dataclass(frozen=True)
class Sleep:
    """A cluster with office hours that has no nodes.

    Parameters
    ----------
    hours
        Its hours.
    since
        The moment of the look.
    """

    hours: OfficeHours
    since: datetime

    @property
    def is_due(self) -> bool:
        """Whether it should sleep, or has just begun to wake; otherwise it is an outage."""
        return not self.hours.is_open(self.since) or self._wakes

    @property
    def _opens(self) -> datetime:
        return self.hours.next_opening(self.since - WAKES_WITHIN)

    @property
    def _wakes(self) -> bool:
        return self._opens <= self.since

    @property
    def note(self) -> str:
        """What it is, for people."""
        if not self.is_due:
            return (
                f"The cluster has no nodes, although cluster.officeHours ({self.hours}) say that it is open: its "
                "schedule did not run, or somebody stopped it."
            )
        does, word = ("wakes", "since") if self._wakes else ("sleeps", "until")
        return f"The cluster {does} by cluster.officeHours ({self.hours}) {word} {self._opens:%Y-%m-%d %H:%M %Z}."


def sleep_of(cloud: Cloud, components: Sequence[ClusterComponent], conditions: Conditions) -> Sleep | None:
    """Return the sleep of a cluster; None if it is awake or has no office hours.

    Parameters
    ----------
    cloud
        The stack's cloud, with its stack file.
    components, conditions
        The cluster's components, and their conditions in the cloud.
    """
    deciding = [
        each for each in components if each.rank is Rank.CLUSTER or (isinstance(each, Group) and each.is_initial)
    ]
    sleeps = any(condition(each, conditions).sleeps for each in deciding)
    return Sleep(cloud.hours, now()) if sleeps and cloud.hours else None


def sleep_blocker(cloud: Cloud, components: Sequence[ClusterComponent], sleep: Sleep) -> Blocker:
    """Return why a sleeping cluster is not changed, and how to wake it."""
    wait = "Wait for its schedule, or wake it" if sleep.is_due else "Wake it"
    return Blocker(
        "cluster.officeHours",
        sleep.note.removesuffix("."),
        "a cluster is changed while it has nodes",
        f"{wait}: {cloud.waking(components)}. Once the nodes are ready, run the command again.",
    )
