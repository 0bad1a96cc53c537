"""Scenario files: those shipped with the package, those that users write, and whether a stack has what they name."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from components.contract.clusters import descriptor_of
from components.contract.labels import is_dns_label
from components.stack_files.yaml_source import leads_outside
from infra.config import KeyPath, Problem, StackConfig
from infra.config.problems import did_you_mean, nearest, shown
from workbench.rehearsal.scenario.events import CapacityRefused, OfficeHoursEnd, SpotReclaim
from workbench.rehearsal.scenario.model import Needs, Scenario
from workbench.rehearsal.scenario.places import Place
from workbench.stacks import PROBLEMS_SHOWN, folder, shown_path
from workbench.stacks.file_problems import FileProblems, content_of, located, parsed
from workbench.system.errors import UserError

SHIPPED: Final = Path(__file__).parent / "shipped"
SUFFIXES: Final = (".yaml", ".yml")


@dataclass(frozen=True)
class NamedScenario:
    """A scenario and where it is from."""

    name: str
    """Name of the file without its suffix."""
    file: Path
    scenario: Scenario


class ScenarioFileError(UserError):
    """Scenario files are invalid or do not exist; lists every problem by file and line.

    Parameters
    ----------
    files
        The problems of each invalid file.
    missing
        What is wrong with names that are not files, and what to do; default: nothing.
    """

    def __init__(self, files: Sequence[FileProblems], missing: UserError | None = None) -> None:
        self.files = tuple(files)
        self.missing = missing
        blocks = [missing.message] if missing else []
        rest = 0
        for each in self.files:
            blocks += [each.heading, *each.lines[:PROBLEMS_SHOWN]]
            rest += max(0, len(each.lines) - PROBLEMS_SHOWN)
        more = [f"... and {rest} more; correct these first"] if rest else []
        super().__init__("\n".join(blocks), "\n".join([*more, *([missing.hint] if missing else [])]))

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Every problem of the files as data, for scripts."""
        return [row for each in self.files for row in each.rows]


def shipped() -> dict[str, Path]:
    """Return the file of each shipped scenario by its name, in alphabetical order."""
    return {file.stem: file for file in sorted(SHIPPED.glob("*.yaml"))}


def find_all(names_or_paths: Sequence[str]) -> list[NamedScenario]:
    """Return scenarios, each named once, in the order of their names.

    Parameters
    ----------
    names_or_paths
        Names of shipped scenarios, and paths of files: what ends with ``.yaml`` or ``.yml`` or has a ``/``.

    Raises
    ------
    ScenarioFileError
        Names all that are not shipped, and all problems of all files, at once.
    """
    known = shipped()
    files: dict[Path, Path] = {}
    for each in names_or_paths:
        if file := Path(each) if _is_path(each) else known.get(each):
            files.setdefault(file.absolute(), file)
    missing = [each for each in dict.fromkeys(names_or_paths) if not _is_path(each) and each not in known]
    found: list[NamedScenario] = []
    wrong: list[FileProblems] = []
    for file in files.values():
        try:
            found.append(read(file))
        except ScenarioFileError as error:
            wrong += error.files
    wrong += _same_names(found)
    if wrong or missing:
        raise ScenarioFileError(wrong, _not_shipped(missing, known) if missing else None)
    return found


def read(file: Path) -> NamedScenario:
    """Return the scenario in a file; ``ScenarioFileError`` lists all its problems."""
    name = shown_path(file)
    if leads_outside(file, file.parent) and leads_outside(file, folder()):
        problem = Problem(None, f"is a link to a file outside of {folder()}; copy that file here")
        raise ScenarioFileError([FileProblems.of(name, [problem])])
    if isinstance(source := content_of(file), Problem):
        raise ScenarioFileError([FileProblems.of(name, [source])])
    scenario, problems = parsed(source, Scenario)
    if not is_dns_label(file.stem):
        message = f"{shown(file.stem)} cannot be a scenario's name; rename the file"
        problems.append(Problem(None, message, allowed=("1 to 63 lower-case letters, digits or '-', such as my-day",)))
    if problems or scenario is None:
        raise ScenarioFileError([FileProblems.of(name, [located(problem, source) for problem in problems])])
    return NamedScenario(file.stem, file, scenario)


def problems_for(scenario: Scenario, config: StackConfig) -> list[Problem]:
    """Return what a scenario names that a stack does not have: pools, zones and namespaces.

    Empty for a stack without what the scenario needs, which skips it.
    """
    return [] if list(_lacking(scenario.needs, config)) else list(_unknown(scenario, config))


def skipped_because(scenario: Scenario, config: StackConfig) -> str:
    """Return why a scenario does not apply to a stack, as a sentence; empty if it does."""
    if not config.namespaces:
        return "The stack file declares no namespaces, so no work can run."
    lacking = list(_lacking(scenario.needs, config)) or [
        *_without_hours(scenario, config),
        *_without_nodes(scenario, config),
    ]
    return f"It needs a pool {', and one '.join(dict.fromkeys(lacking))}." if lacking else ""


def _without_hours(scenario: Scenario, config: StackConfig) -> Iterator[str]:
    if any(isinstance(event, OfficeHoursEnd) for event in scenario.events) and not any(
        pool.office_hours for pool in config.pools.values()
    ):
        yield "with officeHours"


def _without_nodes(scenario: Scenario, config: StackConfig) -> Iterator[str]:
    yield from (
        f"for the {event.event} of {event.place.text}"
        for event in scenario.events
        if (isinstance(event, SpotReclaim) and not _may_have_nodes(config, event.place))
        or (isinstance(event, CapacityRefused) and not _may_have_nodes(config, event.place, whole_groups=True))
    )


def _lacking(needs: Needs, config: StackConfig) -> Iterator[str]:
    """Yield which pools a scenario needs that a stack does not have."""
    pools = config.pools.values()
    yield from (f"of role {role}" for role in needs.roles if all(pool.role is not role for pool in pools))
    yield from (f"of {each} nodes" for each in needs.lifecycles if all(pool.lifecycle is not each for pool in pools))
    for role in needs.zonal:
        zones = {(group.pool, group.zone) for group in config.groups if group.role is role and group.zone}
        if len(zones) == len({pool for pool, _ in zones}):
            yield f"of role {role} with groups in several zones"
    for role in needs.elastic:
        if not any(pool.role is role and pool.size.is_elastic for pool in pools):
            yield f"of role {role} whose size may change"
    for role in needs.headroom:
        if not any(pool.role is role and pool.headroom for pool in pools):
            yield f"of role {role} with headroom"
    if needs.sharing and not any(pool.sharing for pool in pools):
        yield "with sharing"


def _may_have_nodes(config: StackConfig, place: Place, *, whole_groups: bool = False) -> bool:
    """Return whether nodes of any group, or all nodes of one, may be in a place."""
    kind = descriptor_of(config.cluster)
    elsewhere = None if whole_groups else place.zone
    return any(
        place.holds(
            pool=group.pool,
            role=group.role,
            lifecycle=group.lifecycle,
            zone=kind.nodes.zone(config.cluster, group.zone) if group.zone else elsewhere,
        )
        for group in config.groups
    )


def zones_of(config: StackConfig) -> tuple[str, ...]:
    """Return the zones of a stack's cluster as its nodes' labels have them; empty if its stack file names none."""
    kind = descriptor_of(config.cluster)
    return tuple(kind.nodes.zone(config.cluster, zone) for zone in kind.zones(config.cluster))


def _is_path(text: str) -> bool:
    return "/" in text or text.endswith(SUFFIXES)


def _not_shipped(names: Sequence[str], known: dict[str, Path]) -> UserError:
    matches = dict.fromkeys(match for name in names if (match := nearest(name, known)))
    hint = f"Did you mean {' and '.join(map(repr, matches))}? " if matches else ""
    nouns = "scenario is" if len(names) == 1 else "scenarios are"
    return UserError(
        f"No such {nouns} shipped: {', '.join(map(shown, names))}.",
        f"{hint}Shipped: {', '.join(known)}. Name a file of your own by its path, such as ./my-day.yaml.",
    )


def _same_names(found: Sequence[NamedScenario]) -> Iterator[FileProblems]:
    first: dict[str, Path] = {}
    for each in found:
        if (other := first.setdefault(each.name, each.file)) is not each.file:
            message = (
                f"has the name '{each.name}' as {shown_path(other)} has; rename one, since reports show only names"
            )
            yield FileProblems.of(shown_path(each.file), [Problem(None, message)])


def _unknown(scenario: Scenario, config: StackConfig) -> Iterator[Problem]:
    zones, namespaces = zones_of(config), tuple(config.namespaces)
    for path, place in _places(scenario):
        if place.pool and place.pool not in config.pools:
            yield _not_in_stack((*path, "pool"), place.pool, tuple(config.pools), "pool")
        if place.zone and place.zone not in zones:
            yield _not_in_stack((*path, "zone"), place.zone, zones, "zone")
    for name, work in scenario.works.items():
        if work.namespace and work.namespace not in namespaces:
            yield _not_in_stack(("works", name, "namespace"), work.namespace, namespaces, "user namespace")
        if work.volume and work.volume.zone and work.volume.zone not in zones:
            yield _not_in_stack(("works", name, "volume", "zone"), work.volume.zone, zones, "zone")


def _not_in_stack(path: KeyPath, given: str, known: tuple[str, ...], noun: str) -> Problem:
    if not known:
        return Problem(path, f"the stack's cluster has no known {noun}s; remove it", shown(given))
    return Problem(path, f"the stack has no such {noun}{did_you_mean(given, known)}", shown(given), known)


def _places(scenario: Scenario) -> Iterator[tuple[KeyPath, Place]]:
    for section, entries in (("events", scenario.events), ("expectations", scenario.expectations)):
        for index, entry in enumerate(entries):
            if isinstance(place := getattr(entry, "place", None), Place):
                yield (section, index, "place"), place
