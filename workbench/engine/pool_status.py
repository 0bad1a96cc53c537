"""The node groups of a stack: as its file declares them, as its state records them, and as the cluster has them now."""

import json
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from components.contract.group_outputs import described
from components.contract.hours import OfficeHours
from components.contract.labels import AnnotationKey, LabelKey, WellKnownLabel
from components.contract.pools import PoolRole
from components.contract.priorities import UserPriority
from infra.config import StackConfig
from workbench.engine.asleep import Sleep, now
from workbench.engine.clouds.cluster_component import Rank
from workbench.engine.clouds.find import CLOUDS
from workbench.engine.cluster_components import components_of_state
from workbench.engine.kubectl import Api
from workbench.report import pools
from workbench.report.event_payloads import State
from workbench.report.events import STACK_TYPE
from workbench.report.model import PoolChange
from workbench.report.pools import Group
from workbench.report.terminal import print_rows, print_table
from workbench.system.errors import UserError

SETTLE_SECONDS = 30
"""How long a report waits for new nodes; simulated ones are ready within a few seconds."""

_PLAIN: Final[dict[str, Any]] = {"soft_wrap": True, "markup": False, "highlight": False}


class Condition(StrEnum):
    """Whether a cluster can be queried."""

    UP = "up"
    ABSENT = "not created"
    """The state records no resource: never created, or destroyed."""
    STOPPED = "stopped"
    """A local control plane that is not running."""
    UNREACHABLE = "does not answer"
    ASLEEP = "asleep"
    """Without nodes, outside its office hours."""
    OVERSLEPT = "asleep in office hours"
    """Without nodes, although its office hours say that it is open."""


@dataclass(frozen=True)
class Live:
    """What the cluster has now.

    Parameters
    ----------
    nodes, ready
        How many nodes each group has, and how many of them are ready.
    priority_classes
        Values of our priority classes by name.
    """

    nodes: Mapping[str, int] = field(default_factory=dict)
    ready: Mapping[str, int] = field(default_factory=dict)
    priority_classes: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Status:
    """A stack's node groups from three sources, each None or empty where the source does not have them.

    Parameters
    ----------
    stack, environment, kind
        The stack.
    condition, note
        Whether the cluster answered, and what to do or why not.
    declared
        Groups that the stack file declares.
    recorded
        Groups of the last `up`, from the state.
    live
        What the cluster has now; None if it was not queried.
    """

    stack: str
    environment: str
    kind: str
    condition: Condition
    note: str
    declared: Mapping[str, Group]
    recorded: Mapping[str, Group]
    live: Live | None = None

    @property
    def names(self) -> list[str]:
        """All groups: in the stack file's order, then those that only the state or the cluster has."""
        return list(dict.fromkeys([*self.declared, *self.recorded, *(self.live.nodes if self.live else ())]))

    @property
    def unapplied(self) -> tuple[PoolChange, ...]:
        """What `up` would change, according to the stack file and the state; empty if the stack is not up."""
        return pools.differences(self.recorded, self.declared) if self.recorded else ()

    def as_json(self) -> dict[str, Any]:
        """Return the status for scripts."""
        return {
            "stack": self.stack,
            "environment": self.environment,
            "kind": self.kind,
            "condition": self.condition.value,
            "note": self.note,
            "groups": [self._group_as_json(name) for name in self.names],
            "priorityClasses": dict(self.live.priority_classes) if self.live else None,
        }

    def _group_as_json(self, name: str) -> dict[str, Any]:
        sources = {"declared": self.declared.get(name), "recorded": self.recorded.get(name)}
        counted = {"nodes": self.live.nodes.get(name, 0), "ready": self.live.ready.get(name, 0)} if self.live else None
        known = {key: group and group.model_dump(by_alias=True) for key, group in sources.items()}
        return {"group": name, **known, "live": counted}


def declared_groups(config: StackConfig) -> dict[str, Group]:
    """Return the groups that a stack file declares, by name."""
    return {group.name: Group.model_validate(described(group)) for group in config.groups}


def recorded_groups(deployment: Mapping[str, Any]) -> dict[str, Group]:
    """Return the groups that a state records, by name; empty if it records none.

    Raises
    ------
    UserError
        The recorded output cannot be read.
    """
    for each in deployment.get("resources") or ():
        if each["type"] == STACK_TYPE:
            state = State(urn=each["urn"], inputs={}, outputs=each.get("outputs") or {})
            try:
                return dict(pools.groups_of(state) or {})
            except pools.UnreadableError:
                raise UserError("The state's output 'pools' cannot be read.", "`igz-clusters up` writes it.") from None
    return {}


def live_groups(api: Api, deployment: Mapping[str, Any]) -> Live:
    """Return what a cluster has now.

    Parameters
    ----------
    api
        The cluster.
    deployment
        The stack's state, which maps the clouds' names of groups to ours.

    Raises
    ------
    UserError
        The cluster does not answer or refuses.
    """
    items: list[dict[str, Any]] = json.loads(api.run("get", "nodes,priorityclasses", "-o", "json"))["items"]
    names, known = cloud_names(deployment), recorded_groups(deployment)
    nodes, ready = Counter[str](), Counter[str]()
    for node in (each for each in items if each["kind"] == "Node"):
        if group := group_of(node, names, known):
            nodes[group] += 1
            ready[group] += _is_ready(node)
    classes = {each["metadata"]["name"]: each["value"] for each in items if each["kind"] == "PriorityClass"}
    return Live(nodes, ready, {tier.value: classes[tier.value] for tier in UserPriority if tier.value in classes})


def settled(look: Callable[[], Status]) -> Status:
    """Return the status once every recorded group has its minimum of ready nodes, at the latest after 30 s."""
    deadline = time.monotonic() + SETTLE_SECONDS
    found = look()
    while _is_short(found) and time.monotonic() < deadline:
        time.sleep(0.5)
        found = look()
    return found


def rested(found: Status, hours: OfficeHours | None) -> Status:
    """Return the status of a cluster that answered, with its sleep if it has office hours and no initial node."""
    initial = [name for name, group in found.recorded.items() if group.role == PoolRole.INITIAL]
    if not (hours and initial and found.live) or any(found.live.nodes.get(name) for name in initial):
        return found
    return asleep(found, Sleep(hours, now()))


def asleep(found: Status, sleep: Sleep | None) -> Status:
    """Return the status with the sleep of its cluster; unchanged if there is none."""
    if sleep is None:
        return found
    return replace(found, condition=Condition.ASLEEP if sleep.is_due else Condition.OVERSLEPT, note=sleep.note)


def _is_short(found: Status) -> bool:
    ready = found.live.ready if found.live else {}
    return any(ready.get(name, 0) < group.min for name, group in found.recorded.items())


def show(found: Status, console: Console) -> None:
    """Print a status for people."""
    about = f"{found.stack} ({found.environment}, {found.kind})"
    colour = "bold green" if found.condition is Condition.UP else "bold yellow"
    console.print(Text.assemble(f"{about}: ", (found.condition.value, colour)), **_PLAIN)
    if found.note:
        console.print(found.note, **_PLAIN)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("group", "role", "lifecycle", "stack file", "recorded", "nodes", "ready"):
        table.add_column(heading, no_wrap=True)
    table.add_column("types", overflow="fold")
    for name in found.names:
        table.add_row(*map(Text, _row(found, name)))
    print_table(table, console)
    known = set(WellKnownLabel)
    for name, group in ((name, found.recorded[name]) for name in found.names if name in found.recorded):
        labels = " ".join(f"{key}={value}" for key, value in sorted(group.labels.items()) if key not in known)
        console.print(f"\n{name}\n  labels  {labels}\n  taints  {' '.join(group.taints) or 'none'}", **_PLAIN)
    if found.live and found.live.priority_classes:
        console.print("\npriority classes, none of which evicts a pod", **_PLAIN)
        console.print(
            "  " + "  ".join(f"{name}={value}" for name, value in found.live.priority_classes.items()), **_PLAIN
        )
    if found.unapplied:
        console.print(f"\nNot applied yet; `igz-clusters up {found.stack}` applies it:", style="bold yellow", **_PLAIN)
        rows = ((each.pool, each.what, each.before or "-", each.after or "-") for each in found.unapplied)
        print_rows(("group", "what", "recorded", "stack file"), rows, console)


def _row(found: Status, name: str) -> tuple[str, ...]:
    declared, recorded = found.declared.get(name), found.recorded.get(name)
    group = recorded or declared
    counts = (found.live.nodes, found.live.ready) if found.live else ()
    return (
        name,
        group.role if group else "-",
        group.lifecycle if group else "-",
        *(pools.size(each) if each else "-" for each in (declared, recorded)),
        *([str(count.get(name, 0)) for count in counts] or ("?", "?")),
        ", ".join(group.instance_types) if group else "-",
    )


def cloud_names(deployment: Mapping[str, Any]) -> dict[str, str]:
    """Return our name of each group by the cloud's, as far as the state records it."""
    groups = [each for each in components_of_state(deployment, with_replaced=True) if each.rank is Rank.GROUP]
    if not groups:
        return {}
    stack = groups[0].urn.split(":")[2]
    ours = {
        known.cloud.group_name(stack, name): name for known in CLOUDS.values() for name in recorded_groups(deployment)
    }
    return {each.name: ours[each.program_name] for each in groups if each.program_name in ours}


def group_of(node: dict[str, Any], names: Mapping[str, str], known: Mapping[str, Group]) -> str | None:
    """Return the group of a node: by our annotation, by the cloud's label, or by the pool if the pool has one group."""
    labels, annotations = (node["metadata"].get(key) or {} for key in ("labels", "annotations"))
    if (own := annotations.get(AnnotationKey.GROUP)) is not None:
        return str(own)
    for label in (known_cloud.cloud.group_label for known_cloud in CLOUDS.values()):
        if labels.get(label) in names:
            return names[labels[label]]
    pool = labels.get(LabelKey.POOL)
    of_pool = [name for name, group in known.items() if group.pool == pool]
    return of_pool[0] if len(of_pool) == 1 else pool


def _is_ready(node: dict[str, Any]) -> bool:
    conditions = node.get("status", {}).get("conditions", [])
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)
