from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from support import outcomes
from support.rehearsal_site import UNFIT
from workbench.rehearsal.outcome import Outcome
from workbench.rehearsal.report import summary
from workbench.rehearsal.report.comparison import compare


def printed(*shown: Outcome, width: int = 80, terminal: bool = False) -> str:
    console = Console(file=StringIO(), width=width, force_terminal=terminal, color_system=None, emoji=False)
    summary.show(shown, console)
    file = console.file
    assert isinstance(file, StringIO)
    return file.getvalue()


def test_the_verdict_in_words_is_the_first_line() -> None:
    first = printed(outcomes.night()).splitlines()[0]
    assert first == "prod, training-night: 2 of 9 expectations missed"


def test_missed_expectations_stand_before_met_ones() -> None:
    lines = [line.split()[0] for line in printed(outcomes.night()).splitlines() if line.startswith(("  met", "  miss"))]
    assert lines == ["missed"] * 2 + ["met"] * 7


def test_a_missed_expectation_shows_what_was_measured_the_reason_and_the_field_to_change() -> None:
    text = printed(outcomes.night())
    assert "train waits at most 40m: 4 of 14 pods, longest wait 1h39m54s" in text
    assert UNFIT in text
    assert f"{outcomes.LONG_WAIT.cause} {outcomes.LONG_WAIT.action} Field of the stack file: pools.gpu.size.max" in text
    assert "Field of the scenario file: works.notebook.mode" in text


def test_pools_show_sizes_node_hours_and_money() -> None:
    rows = [line.split() for line in printed(outcomes.night()).splitlines()]
    assert ["gpu", "g5.2xlarge", "on-demand", "0..2..2", "4.4", "6.01"] in rows
    assert ["workload", "m6i.2xlarge", "spot", "1..6..6", "7.0", "1.13"] in rows


def test_the_control_plane_has_a_line_of_its_own_where_it_costs_something() -> None:
    night = outcomes.night()
    assert night.costs
    assert "control plane" not in printed(night)
    rows = [
        line.split() for line in printed(replace(night, costs=replace(night.costs, control_plane=0.2))).splitlines()
    ]
    assert ["control", "plane", "0.20"] in rows


def test_works_show_median_95_percent_and_longest_wait() -> None:
    rows = [line.split() for line in printed(outcomes.night()).splitlines()]
    assert ["train", "14", "1h1m", "1h40m", "1h40m", "3", "-"] in rows
    assert ["notebook", "6", "4s", "2m24s", "2m24s", "-", "4"] in rows


def test_lost_pods_are_named_with_what_took_them() -> None:
    text = printed(outcomes.night())
    assert "Lost pods: 9" in text
    assert "notebook: notebook-2-0, notebook-3-0, notebook-4-0, notebook-5-0; spot-reclaim of node workload-1" in text


def test_several_stacks_begin_with_a_matrix_of_scenarios_and_stacks() -> None:
    lines = printed(outcomes.night(), outcomes.skipped(), outcomes.calm()).splitlines()
    assert lines[0] == "2 of 17 expectations missed"
    assert [line.split() for line in lines[2:5]] == [
        ["scenario", "prod", "dev"],
        ["training-night", "2", "of", "9", "missed", "skipped"],
        ["notebooks", "met", "-"],
    ]


def test_an_outcome_without_pods_and_nodes_is_printed() -> None:
    assert printed(outcomes.empty()).startswith("bare, nothing: No expectations\n")


def test_a_skipped_scenario_says_why() -> None:
    assert "dev, training-night: Skipped: it has no pool of role gpu" in printed(outcomes.skipped())


def test_a_scenario_without_a_verdict_says_why_and_is_in_the_matrix() -> None:
    text = printed(outcomes.lost(), outcomes.night())
    assert "dev, notebooks: No verdict: etcd has ended.\n" in text
    assert ["notebooks", "no", "verdict", "-"] in [line.split() for line in text.splitlines()]


def test_prices_that_are_not_known_are_said() -> None:
    assert "no price is known for g5.2xlarge" in printed(outcomes.calm())


def test_assumptions_notes_and_sources_of_prices_come_last_and_once() -> None:
    text = printed(outcomes.night(), outcomes.night("dev"))
    tail = text.partition("\nAssumptions\n")[2]
    assert [line.strip() for line in tail.splitlines() if line.startswith("  ")] == [
        *outcomes.ASSUMPTIONS,
        *outcomes.NOTES,
        outcomes.PRICES,
    ]


def test_assumptions_of_some_outcomes_name_them() -> None:
    night = outcomes.night()
    assert night.record is not None
    own = replace(night, scenario="own", record=replace(night.record, assumptions=("Of all.", "Of own.", "Of dev.")))
    dev = replace(night, stack="dev", record=replace(night.record, assumptions=("Of all.", "Of dev.")))
    other = replace(night, stack="prod", record=replace(night.record, assumptions=("Of all.", "Of prod.")))
    tail = printed(replace(own, stack="dev"), dev, other).partition("\nAssumptions\n")[2]
    lines = [line.strip() for line in tail.splitlines()]
    assert lines[:4] == ["Of all.", "dev own: Of own.", "dev: Of dev.", "prod: Of prod."]


def test_a_terminal_wraps_to_its_width_and_a_pipe_does_not_wrap() -> None:
    narrow = printed(outcomes.night(), width=60, terminal=True).splitlines()
    assert max(map(len, narrow)) <= 60
    assert any(UNFIT in line for line in printed(outcomes.night(), width=60).splitlines())


@pytest.mark.parametrize("hostile", ["[bold]x[/bold]", "\x1b[31mred", "a\x00b", "\u202eevil", "two\nlines"])
def test_hostile_text_stays_text(hostile: str) -> None:
    night = outcomes.night()
    assert night.record is not None
    pods = tuple(replace(pod, work=hostile, name=f"{hostile}-{pod.name}") for pod in night.record.pods)
    verdicts = tuple(replace(each, expectation=hostile, measured=hostile, reason=hostile) for each in night.verdicts)
    bad = replace(night, stack=hostile, record=replace(night.record, pods=pods), verdicts=verdicts)
    text = printed(bad, outcomes.calm())
    assert not {"\x1b", "\x00", "\u202e"} & set(text)
    assert "two\nlines" not in text
    if hostile.startswith("[bold]"):
        assert hostile in text


def test_a_comparison_shows_only_what_changes_and_the_costs() -> None:
    console = Console(file=StringIO(), width=80)
    two = outcomes.night(), outcomes.night(gpu_max=6)
    summary.show(two[:1], console, [compare(*two, names=("main", "HEAD"))])
    file = console.file
    assert isinstance(file, StringIO)
    rows = [line.split() for line in file.getvalue().partition("main -> HEAD")[2].splitlines()]
    assert ["train,", "longest", "wait", "1h40m", "15m", "-1h25m"] in rows
    assert ["pool", "gpu,", "most", "nodes", "2", "6", "+4"] in rows
    assert ["total,", "USD", "9.28", "13.16", "+3.88"] in rows
    assert not [row for row in rows if row[:2] == ["model,", "median"]]
