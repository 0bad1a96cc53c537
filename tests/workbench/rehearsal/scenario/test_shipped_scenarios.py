"""The shipped scenarios are valid, apply to the shipped stacks, and are what users may copy."""

import pytest

from workbench import stacks
from workbench.rehearsal.scenario import files
from workbench.rehearsal.scenario.expectations import Survives
from workbench.rehearsal.scenario.kinds import WorkKind
from workbench.system.paths import PROJECT_ROOT

SCENARIOS = files.find_all(tuple(files.shipped()))
STACKS = ("local", "dev", "prod", "aks-dev", "aks-prod", "existing", "local-prod")
SKIPPED = {
    "local": {"data-node", "zonal-volumes"},
    "dev": {"data-node"},
    "prod": {"data-node", "notebooks", "team-day", "zonal-volumes"},
    "aks-dev": {"data-node"},
    "aks-prod": {"notebooks", "team-day", "zonal-volumes"},
    "existing": {"data-node", "capacity-refused", "large-gang", "spot-reclaim", "priorities", "zonal-volumes"},
    "local-prod": {"data-node", "notebooks", "team-day", "capacity-refused", "spot-reclaim", "zonal-volumes"},
}


OF_CHOICES = {"headroom", "office-hours", "reservations", "shared-gpus"}
"""Scenarios of keys that no shipped stack has."""


def test_the_scenarios_of_the_documents_are_shipped() -> None:
    assert set(files.shipped()) == {
        *("capacity-refused", "core-services", "data-node", "gpus", "headroom", "jobs", "large-gang"),
        *("nightly-training", "node-failure", "notebooks", "office-hours", "priorities", "reservations", "serving"),
        *("shared-gpus", "spot-reclaim", "stuck-run", "systems", "team-day", "upgrade", "zonal-volumes"),
    }


@pytest.mark.parametrize("name", STACKS)
def test_a_shipped_stack_plays_every_scenario_for_which_it_has_pools(name: str) -> None:
    config = stacks.find(name).config
    skipped = {each.name for each in SCENARIOS if files.skipped_because(each.scenario, config)}
    assert skipped == SKIPPED[name] | OF_CHOICES


@pytest.mark.parametrize("each", SCENARIOS, ids=lambda each: each.name)
def test_a_shipped_scenario_names_nothing_that_some_stacks_lack(each: files.NamedScenario) -> None:
    for name in STACKS:
        assert files.problems_for(each.scenario, stacks.find(name).config) == []


@pytest.mark.parametrize("each", SCENARIOS, ids=lambda each: each.name)
def test_a_shipped_scenario_takes_at_most_five_real_minutes(each: files.NamedScenario) -> None:
    longest = 300 if each.name == "team-day" else 60
    assert each.scenario.lasts / each.scenario.speed <= longest


@pytest.mark.parametrize("each", SCENARIOS, ids=lambda each: each.name)
def test_a_shipped_scenario_begins_with_its_schema_and_what_it_teaches(each: files.NamedScenario) -> None:
    first, second, *rest = each.file.read_text().splitlines()
    schema = first.removeprefix("# yaml-language-server: $schema=")
    assert (each.file.parent / schema).resolve() == PROJECT_ROOT / "docs/rehearsal.schema.json"
    assert second.startswith("# ")
    assert [line for line in rest if len(line) > 120] == []


def test_the_scenario_of_systems_has_every_kind_of_work_but_bare_pods() -> None:
    [systems] = files.find_all(["systems"])
    kinds = {work.kind for work in systems.scenario.works.values()}
    assert kinds == set(WorkKind) - {WorkKind.POD}


def test_work_that_is_expected_to_survive_has_room_to_finish() -> None:
    for each in SCENARIOS:
        kept = {every.work for every in each.scenario.expectations if isinstance(every, Survives)}
        for arrival in each.scenario.arrivals:
            runs_for = each.scenario.works[arrival.work].runs_for or 0
            assert arrival.work not in kept or arrival.last + runs_for < each.scenario.lasts
