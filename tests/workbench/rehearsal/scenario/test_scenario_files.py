"""Scenario files are found and read, with all problems of all files at once."""

from pathlib import Path

import pytest
import yaml

from support.rehearsal_stacks import POOLS, stack
from workbench import stacks
from workbench.rehearsal.scenario import files
from workbench.rehearsal.scenario.files import ScenarioFileError
from workbench.rehearsal.scenario.model import Scenario

GOOD = """\
description: A job
lasts: 30m
works:
  train: { kind: mlrun-job, runsFor: 5m }
arrivals:
  - { work: train, at: 1m }
expectations:
  - { expect: completes, work: train }
"""
STACKS = ("local", "dev", "prod", "aks-dev", "aks-prod", "existing", "local-prod")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("IGZ_CLUSTERS_STACKS", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def message(*names: str) -> str:
    with pytest.raises(ScenarioFileError) as caught:
        files.find_all(names)
    return str(caught.value)


def test_a_shipped_scenario_is_found_by_its_name() -> None:
    [found] = files.find_all(["jobs"])
    assert (found.name, found.file) == ("jobs", files.shipped()["jobs"])


def test_a_file_is_found_by_its_path(folder: Path) -> None:
    (folder / "night.yaml").write_text(GOOD)
    [found] = files.find_all(["./night.yaml"])
    assert (found.name, found.scenario.description) == ("night", "A job")


def test_scenarios_come_in_the_order_of_their_names_and_each_once(folder: Path) -> None:
    (folder / "night.yml").write_text(GOOD)
    found = files.find_all(["systems", "night.yml", "jobs", "./night.yml", "systems"])
    assert [each.name for each in found] == ["systems", "night", "jobs"]


def test_an_unknown_name_is_answered_with_the_shipped_ones() -> None:
    assert message("jbos", "serving", "spot") == (
        "No such scenarios are shipped: 'jbos', 'spot'.\n"
        f"Did you mean 'jobs'? Shipped: {', '.join(files.shipped())}. "
        "Name a file of your own by its path, such as ./my-day.yaml."
    )


def test_all_problems_of_all_files_come_at_once_with_their_lines(folder: Path) -> None:
    (folder / "first.yaml").write_text(GOOD.replace("work: train, at", "work: trian, at").replace("30m", "30"))
    (folder / "second.yaml").write_text(GOOD.replace("lasts: 30m", "lasts: 30m\nlasts: 40m\nspeed: fast"))
    (folder / "third.yaml").write_text(GOOD)
    assert message("first.yaml", "gone.yaml", "third.yaml", "second.yaml", "no-such").splitlines() == [
        "No such scenario is shipped: 'no-such'.",
        "2 problems in first.yaml",
        "first.yaml:2: lasts: needs a unit, such as 30s or 30m (given: 30)",
        "first.yaml:6: arrivals[0].work: no such work, did you mean 'train'? (given: 'trian'; allowed: train)",
        "1 problem in gone.yaml",
        "gone.yaml: the file cannot be read: No such file or directory",
        "2 problems in second.yaml",
        "second.yaml:3: lasts: is given twice, first in line 2; keep one",
        "second.yaml:4: speed: must be a whole number (given: 'fast'; allowed: 5 to 600)",
        f"Shipped: {', '.join(files.shipped())}. Name a file of your own by its path, such as ./my-day.yaml.",
    ]


KEYS = "description, lasts, speed, needs, works, arrivals, events, expectations"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "odd.yaml: the file is empty"),
        ("- a", f"odd.yaml:1: the file must be a mapping (given: a list; allowed: {KEYS})"),
        ("a: [b", "odd.yaml:1: invalid YAML: a bracket that begins here is not closed, or a comma is missing"),
        ("a: " + "x" * 2**20, "odd.yaml: the file is larger than the limit of 1024 KiB"),
    ],
    ids=["empty", "list", "syntax", "large"],
)
def test_a_file_that_is_no_scenario_at_all_is_refused(folder: Path, text: str, line: str) -> None:
    (folder / "odd.yaml").write_text(text)
    assert message("./odd.yaml").splitlines() == ["1 problem in odd.yaml", line]


def test_many_problems_are_counted_rather_than_printed(folder: Path) -> None:
    works = "".join(f"  work-{number}: {{ kind: job }}\n" for number in range(60))
    (folder / "many.yaml").write_text(GOOD.replace("works:\n", f"works:\n{works}"))
    lines = message("many.yaml").splitlines()
    assert (len(lines), lines[0], lines[-1]) == (
        52,
        "120 problems in many.yaml",
        "... and 70 more; correct these first",
    )


def test_a_file_whose_name_cannot_name_a_scenario_is_refused(folder: Path) -> None:
    (folder / "My day.yaml").write_text(GOOD)
    assert "'My day' cannot be a scenario's name; rename the file" in message("My day.yaml")


def test_two_files_of_one_name_are_refused(folder: Path) -> None:
    (folder / "jobs.yaml").write_text(GOOD)
    assert message("jobs", "jobs.yaml").splitlines()[0] == "1 problem in jobs.yaml"


def test_a_link_out_of_the_folder_is_refused(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    secret = tmp_path_factory.mktemp("elsewhere") / "secret.yaml"
    secret.write_text("password: 7")
    (folder / "mine.yaml").symlink_to(secret)
    assert "is a link to a file outside of" in message("mine.yaml")
    assert "password" not in message("mine.yaml")


def test_rows_have_every_problem_as_data(folder: Path) -> None:
    (folder / "first.yaml").write_text(GOOD.replace("30m", "30"))
    with pytest.raises(ScenarioFileError) as caught:
        files.find_all(["first.yaml"])
    [row] = caught.value.rows
    assert (row["file"], row["line"], row["path"]) == ("first.yaml", 2, ("lasts",))


WHERE = """\
description: Places
lasts: 30m
works:
  train: { kind: mlrun-job, runsFor: 5m, namespace: mlrum, volume: { zone: a } }
arrivals:
  - { work: train }
events:
  - { event: node-failure, at: 5m, place: { zone: eu-west-1d } }
  - { event: capacity-refused, at: 5m, lasts: 5m, place: { pool: wokload } }
expectations:
  - { expect: lands-on, work: train, place: { pool: workload, zone: eu-west-1a } }
"""


def test_what_a_stack_does_not_have_is_named_with_what_it_has() -> None:
    scenario = Scenario.model_validate(yaml.safe_load(WHERE))
    zones = "allowed: eu-west-1a, eu-west-1b, eu-west-1c"
    assert [str(problem) for problem in files.problems_for(scenario, stacks.find("dev").config)] == [
        f"events[0].place.zone: the stack has no such zone, did you mean 'eu-west-1c'? (given: 'eu-west-1d'; {zones})",
        (
            "events[1].place.pool: the stack has no such pool, did you mean 'workload'? "
            "(given: 'wokload'; allowed: initial, workload, spot, jupyter, gpu)"
        ),
        (
            "works.train.namespace: the stack has no such user namespace, did you mean 'mlrun'? "
            "(given: 'mlrum'; allowed: mlrun)"
        ),
        f"works.train.volume.zone: the stack has no such zone (given: 'a'; {zones})",
    ]


def test_a_cluster_without_zones_is_answered_so() -> None:
    scenario = Scenario.model_validate(yaml.safe_load(WHERE))
    lines = [str(problem) for problem in files.problems_for(scenario, stacks.find("local").config)]
    assert lines[0] == ("events[0].place.zone: the stack's cluster has no known zones; remove it (given: 'eu-west-1d')")


def test_zones_are_those_of_node_labels() -> None:
    assert {name: files.zones_of(stacks.find(name).config) for name in ("dev", "aks-dev", "local")} == {
        "dev": ("eu-west-1a", "eu-west-1b", "eu-west-1c"),
        "aks-dev": ("westeurope-1", "westeurope-2", "westeurope-3"),
        "local": (),
    }


def test_a_stack_skips_what_it_has_no_pools_for_and_says_why() -> None:
    needs = {"roles": ["data", "gpu"], "lifecycles": ["spot"], "elastic": ["workload"], "headroom": ["gpu"]}
    scenario = Scenario.model_validate({**yaml.safe_load(GOOD), "needs": needs})
    assert {
        name: files.skipped_because(scenario, stacks.find(name).config) for name in ("aks-prod", "dev", "existing")
    } == {
        "aks-prod": "It needs a pool of role gpu with headroom.",
        "dev": "It needs a pool of role data, and one of role gpu with headroom.",
        "existing": "It needs a pool of role data, and one of spot nodes, and one of role workload whose size may "
        "change, and one of role gpu with headroom.",
    }
    room = {"pods": 1, "cpu": "1", "memory": "2Gi", "gpus": 1}
    keeps = stack(pools=POOLS | {"gpu": {**POOLS["gpu"], "headroom": room}})
    assert "headroom" not in files.skipped_because(scenario, keeps)


@pytest.mark.parametrize(
    ("role", "stack", "is_played"),
    [("jupyter", "dev", True), ("jupyter", "aks-dev", True), ("jupyter", "local", False), ("jupyter", "prod", False),
     ("workload", "dev", False), ("data", "aks-prod", True)],
)  # fmt: skip
def test_a_stack_without_a_pool_of_several_zonal_groups_skips_what_needs_one(
    role: str, stack: str, *, is_played: bool
) -> None:
    scenario = Scenario.model_validate({**yaml.safe_load(GOOD), "needs": {"zonal": [role]}})
    skipped = files.skipped_because(scenario, stacks.find(stack).config)
    assert skipped == ("" if is_played else f"It needs a pool of role {role} with groups in several zones.")


@pytest.mark.parametrize(
    ("place", "stack", "skipped"),
    [
        ("{}", "dev", ""),
        ("{}", "existing", "It needs a pool for the spot-reclaim of spot."),
        ("{ role: workload, zone: eu-west-1a }", "dev", ""),
        ("{ role: gpu }", "dev", "It needs a pool for the spot-reclaim of role gpu, spot."),
        ("{ pool: workload }", "prod", "It needs a pool for the spot-reclaim of pool workload, spot."),
    ],
)
def test_a_stack_that_can_have_no_spot_node_in_the_place_of_a_reclaim_skips_it(
    place: str, stack: str, skipped: str
) -> None:
    event = f"events:\n  - {{ event: spot-reclaim, at: 5m, place: {place} }}\n"
    scenario = Scenario.model_validate(yaml.safe_load(GOOD + event))
    assert files.skipped_because(scenario, stacks.find(stack).config) == skipped


@pytest.mark.parametrize(
    ("place", "skipped"),
    [
        ("{ role: workload }", ""),
        ("{ zone: eu-west-1a }", "It needs a pool for the capacity-refused of zone eu-west-1a."),
    ],
)
def test_a_stack_without_a_group_of_its_own_in_the_zone_of_refused_capacity_skips_it(place: str, skipped: str) -> None:
    event = f"{{ event: capacity-refused, at: 5m, place: {place}, lasts: 10m }}"
    scenario = Scenario.model_validate({**yaml.safe_load(GOOD), "events": [yaml.safe_load(event)]})
    assert files.skipped_because(scenario, stacks.find("prod").config) == skipped


def test_a_reclaim_in_an_unknown_pool_is_a_mistake_and_not_skipped() -> None:
    event = "events:\n  - { event: spot-reclaim, at: 5m, place: { pool: sopt } }\n"
    scenario = Scenario.model_validate(yaml.safe_load(GOOD + event))
    [problem] = files.problems_for(scenario, stacks.find("dev").config)
    assert "the stack has no such pool, did you mean 'spot'?" in str(problem)


def test_a_skipped_scenario_has_no_problems() -> None:
    scenario = Scenario.model_validate({**yaml.safe_load(WHERE), "needs": {"roles": ["data"]}})
    assert files.problems_for(scenario, stacks.find("dev").config) == []
