import tracemalloc
from pathlib import Path

import pytest

from support.replays import SECRET, audit, life, lines, pod, run, write
from workbench.rehearsal.replay.files import read
from workbench.rehearsal.replay.yaml_text import as_yaml
from workbench.rehearsal.scenario import files
from workbench.rehearsal.scenario.expectations import Completes, WaitsAtMost
from workbench.rehearsal.scenario.model import WORKS_MAX
from workbench.system.errors import UserError

FIXTURES = Path(__file__).parent / "fixtures"
FILES = sorted(each.name for each in FIXTURES.iterdir())
NOTEBOOK = {"component": "singleuser-server"}
DAY = 86_400


@pytest.mark.parametrize("file", FILES)
def test_a_replay_written_as_a_file_is_the_same_scenario(tmp_path: Path, file: str) -> None:
    replayed = read(FIXTURES / file)
    written = write(tmp_path, "written.yaml", as_yaml(replayed))
    assert files.read(written).scenario == replayed.scenario


def test_a_scenario_that_no_file_may_hold_is_refused_instead_of_written(tmp_path: Path) -> None:
    entries = [
        each for i in range(1200) for each in life(pod(f"p{i}", labels=NOTEBOOK), i * i % 9973, deleted=10_000 + i)
    ]
    replayed = read(write(tmp_path, "Big_day.jsonl", lines(entries)))
    with pytest.raises(UserError) as error:
        as_yaml(replayed)
    assert str(error.value) == (
        "The scenario of big-day is too large for a file: it has 1200 arrivals, and scenario files have at most 5000 "
        "values.\nChoose a part of it with --from and --to, or replay it without writing it."
    )


@pytest.mark.parametrize("file", FILES)
def test_nothing_that_pods_run_and_no_node_name_leaves_the_file(file: str) -> None:
    assert SECRET in (FIXTURES / file).read_text(encoding="utf-8")
    shown = as_yaml(read(FIXTURES / file))
    assert not [word for word in (SECRET, "ip-10-0-1-7", "ada", "registry") if word in shown]


def test_times_in_equal_steps_are_one_arrival_and_others_keep_their_second(tmp_path: Path) -> None:
    seconds = [0, 30, 60, 90, 100, 107, 107, 107, 400]
    entries = [each for i, at in enumerate(seconds) for each in life(pod(f"p{i}"), at)]
    arrivals = read(write(tmp_path, "a.jsonl", lines(entries))).scenario.arrivals
    assert sorted(at for each in arrivals for at in each.moments) == seconds
    assert [(each.at, each.count, each.every) for each in arrivals] == [
        (0, 4, 30), (100, 1, None), (107, 3, None), (400, 1, None),
    ]  # fmt: skip


def test_different_run_times_of_equal_pods_keep_their_sum(tmp_path: Path) -> None:
    runs = [60, 61, 62, 600, 620, 7200]
    entries = [each for i, ran in enumerate(runs)
               for each in life(pod(f"p{i}"), i, scheduled=i, completed=i + 3 + ran)]  # fmt: skip
    scenario = read(write(tmp_path, "a.jsonl", lines(entries))).scenario
    total = sum(each.count * (scenario.works[each.work].runs_for or 0) for each in scenario.arrivals)
    assert len(scenario.works) == 3
    assert abs(total - sum(runs)) <= len(scenario.works)


def test_many_different_run_times_are_averaged_more_until_the_works_fit(tmp_path: Path) -> None:
    entries = [
        each
        for i in range(900)
        for each in life(pod(f"p{i}", cpu=f"{1 + i // 30}"), i, scheduled=i, completed=i + 10 + int(1.25 ** (i % 30)))
    ]
    replayed = read(write(tmp_path, "a.jsonl", lines(entries)))
    assert 30 < len(replayed.scenario.works) <= WORKS_MAX
    assert any("differ by at most 300 %" in each for each in replayed.notes)


def test_the_limit_of_waiting_is_the_worst_wait_there_in_whole_minutes(tmp_path: Path) -> None:
    entries = [
        *life(pod("a"), 0, scheduled=3),
        *life(pod("b"), 10, scheduled=10 + 601),
        *life(pod("c"), 20, scheduled=30),
    ]
    expectations = read(write(tmp_path, "a.jsonl", lines(entries))).scenario.expectations
    assert [each.time for each in expectations if isinstance(each, WaitsAtMost)] == [660]


def test_pods_that_were_never_placed_lower_the_share_that_must_not_wait(tmp_path: Path) -> None:
    entries = [*life(pod("a"), 0, scheduled=3), *life(pod("b"), 10, scheduled=20), *life(pod("c"), 20)]
    replayed = read(write(tmp_path, "a.jsonl", lines(entries)))
    assert [each.percent for each in replayed.scenario.expectations if isinstance(each, WaitsAtMost)] == [66]
    assert "Pods that were never placed there (the limits of waiting leave out their share): 1." in replayed.notes


def test_work_that_failed_there_lowers_the_share_that_must_complete(tmp_path: Path) -> None:
    entries = [*life(pod("a"), 0, scheduled=3, completed=60), *life(pod("b"), 0, scheduled=3, failed=60)]
    expectations = read(write(tmp_path, "a.jsonl", lines(entries))).scenario.expectations
    assert [each.percent for each in expectations if isinstance(each, Completes)] == [50]


def test_what_completed_at_the_end_of_the_file_has_time_to_wait_and_complete(tmp_path: Path) -> None:
    entries = life(pod("a"), 0, scheduled=1200, completed=1300)
    scenario = read(write(tmp_path, "a.jsonl", lines(entries))).scenario
    limit = next(each.time for each in scenario.expectations if isinstance(each, WaitsAtMost))
    assert scenario.lasts >= 1300 + limit


@pytest.mark.parametrize(("days", "speed", "limit"), [(0.2, 60, 5), (1, 144, 12), (7, 600, 50), (30, 600, 50)])
def test_a_long_replay_is_sped_up_and_its_limits_stay_measurable(
    tmp_path: Path, days: float, speed: int, limit: int
) -> None:
    entries = [*life(pod("a"), 0, scheduled=3), *life(pod("b"), days * DAY - 10, scheduled=days * DAY - 9)]
    replayed = read(write(tmp_path, "a.jsonl", lines(entries)))
    assert replayed.scenario.speed == speed
    assert {each.time for each in replayed.scenario.expectations if isinstance(each, WaitsAtMost)} == {limit * 60}
    assert any(each.startswith("It runs at speed") for each in replayed.notes) == (speed > 60)


def test_runs_without_an_end_take_the_assumed_time_which_a_note_says(tmp_path: Path) -> None:
    unfinished = run("train", 0, None)
    del unfinished["status"]["last_update"]
    replayed = read(write(tmp_path, "runs.jsonl", lines([unfinished])))
    assert replayed.scenario.works["train"].runs_for == 600
    assert "Finished runs without an end (10 minutes are assumed): 1." in replayed.notes


def test_memory_does_not_grow_with_the_length_of_the_log(tmp_path: Path) -> None:
    lease = {"kind": "Event", "apiVersion": "audit.k8s.io/v1", "verb": "update", "objectRef": {"resource": "leases"}}
    listed = audit("list", 5, "", responseObject={"items": [{"note": "x" * 700}]})
    filler = lines([lease] * 80 + [listed] * 20)
    made = lines(life(pod("a"), 0, scheduled=1, completed=60))

    def peak(repeats: int) -> int:
        path = tmp_path / "audit.jsonl"
        with path.open("w", encoding="utf-8") as file:
            file.write(made)
            for _ in range(repeats):
                file.write(filler)
        tracemalloc.start()
        try:
            read(path)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(1)
    assert peak(800) < peak(5) + 2**19


def test_lists_are_read_in_pieces(tmp_path: Path) -> None:
    metadata = {"name": "NAME", "namespace": "a", "creationTimestamp": "2026-03-02T08:00:00Z"}
    item = lines([{**pod("a"), "metadata": {**metadata, "annotations": {"note": "é" * 30_000}}}]).strip()
    path = tmp_path / "pods.json"
    with path.open("w", encoding="utf-8") as file:
        file.write(
            '{"apiVersion":"v1","items":[' + ",\n".join(item.replace("NAME", f"p{i}") for i in range(100)) + "]}"
        )
    tracemalloc.start()
    replayed = read(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert sum(each.count for each in replayed.scenario.arrivals) == 100
    assert peak < path.stat().st_size / 2
