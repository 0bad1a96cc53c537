"""Reads the number of a stack's nodes in a rehearsal, for the costs in the report on a change."""

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from pydantic.alias_generators import to_camel

from workbench.prices.node_hours import life
from workbench.prices.stack_cost import HOURS_A_MONTH, StackCost
from workbench.report.money import Rehearsed
from workbench.report.pools import Groups
from workbench.system.errors import UserError

_GROUPS_MAX: Final = 1_000
_Name = Annotated[str, StringConstraints(max_length=250)]
_Nodes = Annotated[int, Field(ge=0, le=1_000_000)]


class _Shape(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="ignore", alias_generator=to_camel, populate_by_name=True, allow_inf_nan=False
    )


class _Group(_Shape):
    name: _Name
    instance_type: _Name
    lifecycle: _Name
    min: _Nodes
    max: _Nodes


class _Node(_Shape):
    group: str
    created: float
    gone: float | None


class _Record(_Shape):
    lasts: float = Field(gt=0)
    groups: list[_Group]
    nodes: list[_Node]


class _Outcome(_Shape):
    stack: str
    scenario: str
    record: _Record | None


class _Comparison(_Shape):
    scenario: str
    before: str
    after: str


class _Report(_Shape):
    """The needed parts of the JSON that ``igz-clusters rehearse`` writes."""

    schema_version: Literal[1]
    outcomes: list[_Outcome]
    comparisons: list[_Comparison]


class State(_Shape):
    """The node groups that a rehearsal had, and how many nodes they had on average.

    Parameters
    ----------
    groups
        The node groups.
    nodes
        Mean number of nodes over the scenario, by name of the group.
    """

    groups: Annotated[list[_Group], Field(max_length=_GROUPS_MAX)]
    nodes: Annotated[dict[_Name, Annotated[float, Field(ge=0, le=1e6)]], Field(max_length=_GROUPS_MAX)]

    def is_of(self, groups: Groups | None) -> bool:
        """Return whether these are the rehearsed node groups, with the same sizes and machine types."""
        mine = {each.name: (each.instance_type, each.lifecycle, each.min, each.max) for each in self.groups}
        return mine == {
            name: (next(iter(each.instance_types), ""), each.lifecycle, each.min, each.max)
            for name, each in (groups or {}).items()
        }

    def usd_a_month(self, cost: StackCost) -> int:
        """Return the price of that many nodes, and of the control plane, in whole USD."""
        prices = {each.group.name: each.price.usd_per_hour for each in cost.groups if each.price}
        hourly = sum(prices.get(name, 0.0) * nodes for name, nodes in self.nodes.items())
        return round((hourly + (cost.fee.usd_per_hour if cost.fee else 0.0)) * HOURS_A_MONTH)


class Rehearsal(_Shape):
    """A scenario as it was rehearsed on a stack.

    Parameters
    ----------
    scenario
        Its name.
    after
        With the stack file of the change.
    before
        With the stack file that it was compared with; None without a comparison.
    """

    scenario: Annotated[str, StringConstraints(pattern=r"^[a-z0-9-]{1,63}$")]
    after: State
    before: State | None = None


def read(file: Path, stacks: Collection[str]) -> dict[str, list[Rehearsal]]:
    """Return the rehearsals of each of ``stacks`` from the JSON that ``igz-clusters rehearse`` wrote.

    Raises
    ------
    UserError
        The file cannot be read, is not such a report, or is about none of the stacks.
    """
    hint = "Write it with: igz-clusters rehearse STACK --scenario NAME --json > rehearsal.json"
    try:
        report = _Report.model_validate_json(file.read_bytes())
        played = {(each.stack, each.scenario): _state(each.record) for each in report.outcomes if each.record}
        references = {(each.after, each.scenario): each.before for each in report.comparisons}
        found: dict[str, list[Rehearsal]] = {}
        for (stack, scenario), after in played.items():
            before = played.get((references.get((stack, scenario), ""), scenario))
            if stack in stacks:
                found.setdefault(stack, []).append(Rehearsal(scenario=scenario, after=after, before=before))
    except OSError as error:
        raise UserError(f"--rehearsal: {file} cannot be read: {error.strerror}.", hint) from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "all of it"
        raise UserError(f"--rehearsal: {file} is not the JSON of a rehearsal: {where}: {first['msg']}.", hint) from None
    if not found:
        about = ", ".join(dict.fromkeys(stack for stack, _ in played)) or "no stack"
        raise UserError(
            f"--rehearsal: {file} is about {about}; the change has {', '.join(sorted(stacks)) or 'no stack'}.", hint
        )
    return found


def rehearsed(
    rehearsals: Iterable[Rehearsal], groups: tuple[Groups | None, Groups], costs: tuple[StackCost | None, StackCost]
) -> Iterator[Rehearsed]:
    """Yield the cost of each rehearsal; None for node groups that differ from those of the change.

    Parameters
    ----------
    rehearsals
        What was rehearsed.
    groups, costs
        The node groups and their prices, before and after the change.
    """
    for each in rehearsals:
        before = None
        if each.before and costs[0] and each.before.is_of(groups[0]):
            before = each.before.usd_a_month(costs[0])
        after = each.after.usd_a_month(costs[1]) if each.after.is_of(groups[1]) else None
        yield Rehearsed(each.scenario, before, after)


def _state(record: _Record) -> State:
    """Return the groups with the mean number of their nodes."""
    nodes = dict.fromkeys((each.name for each in record.groups), 0.0)
    for node in record.nodes:
        begin, end = life(node, record.lasts)
        nodes[node.group] = nodes.get(node.group, 0.0) + (end - begin) / record.lasts
    return State(groups=record.groups, nodes=nodes)
