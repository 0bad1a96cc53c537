"""Whether a cluster sleeps outside its office hours, which is neither drift nor an outage."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from components.contract.hours import OfficeHours
from workbench.engine.clouds.blocker import Blocker
from workbench.engine.clouds.cloud import Cloud
from workbench.engine.clouds.cluster_component import ClusterComponent, Conditions, Group, Rank, condition
from workbench.engine.cluster_components import components_of_state

WAKES_WITHIN: Final = timedelta(minutes=30)
"""How long a cluster may have no nodes after its hours begin: schedules run late, and nodes must start. Assumed."""

CLOSES_WITHIN: Final = timedelta(hours=1)
"""How long before the end of the hours `up` warns: an upgrade takes about as long. Assumed."""


def now() -> datetime:
    """Return the current time."""
    return datetime.now(UTC)


@dataclass(frozen=True)
class Sleep:
    """A cluster that has no nodes.

    Parameters
    ----------
    hours
        Its office hours; None if it has none, and its cloud says that it was stopped by hand.
    since
        When the cloud was queried.
    """

    hours: OfficeHours | None
    since: datetime

    @property
    def is_due(self) -> bool:
        """Whether it should sleep, or has just begun to wake; otherwise it is an outage."""
        hours = self.hours
        return hours is not None and (not hours.is_open(self.since) or _opens(hours, self.since) <= self.since)

    @property
    def note(self) -> str:
        """Its condition as a sentence."""
        if self.hours is None:
            return "The cluster is stopped, and the stack file has no cluster.officeHours: it was stopped by hand."
        if not self.is_due:
            return (
                f"The cluster has no nodes, although cluster.officeHours ({self.hours}) say that it is open: its "
                "schedule did not run, or it was stopped by hand."
            )
        opens = _opens(self.hours, self.since)
        does, word = ("wakes", "since") if opens <= self.since else ("sleeps", "until")
        return f"The cluster {does} by cluster.officeHours ({self.hours}) {word} {opens:%Y-%m-%d %H:%M %Z}."


def _opens(hours: OfficeHours, since: datetime) -> datetime:
    """Return the next opening, or the last one while the cluster wakes."""
    return hours.next_opening(since - WAKES_WITHIN)


def sleep_in(
    cloud: Cloud, deployment: Mapping[str, Any], ask: Callable[[Sequence[ClusterComponent]], Conditions]
) -> Sleep | None:
    """Return the sleep of a cluster with office hours; None if it has none, is awake, or is not created.

    Parameters
    ----------
    cloud
        The stack's cloud, with its stack file.
    deployment
        As exported.
    ask
        Queries the cloud.
    """
    if not cloud.hours:
        return None
    components = [each for each in components_of_state(deployment) if _decides(each)]
    return sleep_of(cloud, components, ask(components)) if components else None


def sleep_of(cloud: Cloud, components: Sequence[ClusterComponent], conditions: Conditions) -> Sleep | None:
    """Return the sleep of a cluster; None if it is awake.

    One without initial nodes sleeps if it has office hours; else `up` gives it nodes. One that its cloud stopped cannot
    be changed in any case.

    Parameters
    ----------
    cloud
        The stack's cloud, with its stack file.
    components, conditions
        The cluster's components, and their conditions in the cloud.
    """
    sleeping = [each for each in components if _decides(each) and condition(each, conditions).sleeps]
    is_stopped = any(each.rank is Rank.CLUSTER for each in sleeping)
    return Sleep(cloud.hours, now()) if is_stopped or (sleeping and cloud.hours) else None


def _decides(component: ClusterComponent) -> bool:
    return component.rank is Rank.CLUSTER or (isinstance(component, Group) and component.is_initial)


def closing_note(hours: OfficeHours | None) -> str:
    """Return a warning before a run near the end of the hours; empty at any other time."""
    moment = now()
    if not hours or not hours.is_open(moment) or hours.is_open(moment + CLOSES_WITHIN):
        return ""
    return f"The hours of the cluster end within an hour ({hours}). Its schedules stop it then, also during this run."


def sleep_blocker(cloud: Cloud, components: Sequence[ClusterComponent], sleep: Sleep) -> Blocker:
    """Return why a sleeping cluster is not changed, and how to wake it."""
    wait = "Wait for its schedule, or wake it" if sleep.is_due else "Wake it"
    return Blocker(
        "cluster.officeHours" if sleep.hours else "cluster",
        sleep.note.removesuffix("."),
        "only a cluster with nodes can be changed",
        f"{wait}: {cloud.waking(components)}. Once the nodes are ready, run the command again.",
    )
