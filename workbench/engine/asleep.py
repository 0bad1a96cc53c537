"""Whether a cluster sleeps outside its office hours, which is neither drift nor an outage."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from components.contract.hours import OfficeHours
from workbench.engine.clouds.blocker import Blocker
from workbench.engine.clouds.cloud import Cloud
from workbench.engine.clouds.cluster_component import ClusterComponent, Conditions, Group, Rank, condition


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
        """Whether it should sleep; otherwise it is an outage."""
        return not self.hours.is_open(self.since)

    @property
    def note(self) -> str:
        """What it is, for people."""
        if not self.is_due:
            return (
                f"The cluster has no nodes, although cluster.officeHours ({self.hours}) say that it is open: its "
                "schedule did not run, or somebody stopped it."
            )
        opens = self.hours.next_opening(self.since)
        return f"The cluster sleeps by cluster.officeHours ({self.hours}) until {opens:%Y-%m-%d %H:%M %Z}."


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
    wait = "Wait until then, or wake it" if sleep.is_due else "Wake it"
    return Blocker(
        "cluster.officeHours",
        sleep.note.removesuffix("."),
        "a cluster is changed while it has nodes",
        f"{wait}: {cloud.waking(components)}. Once the nodes are ready, run the command again.",
    )
