"""Bad scenarios get whole messages; good ones are read as they are meant."""

import copy
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from infra.config.problems import problems_of
from support import stack_cases
from support.stack_cases import Case
from workbench.rehearsal.play.operators import MONITORED
from workbench.rehearsal.replay.kinds import MLRUN_KINDS
from workbench.rehearsal.scenario.kinds import KINDS_OF_KEY, WorkKind
from workbench.rehearsal.scenario.model import Scenario
from workbench.rehearsal.scenario.work import Work

FOLDER = Path(__file__).parent / "cases"
NIGHT: dict[str, Any] = stack_cases.bases(FOLDER)["night"]
LINE_MAX = 1500


def problems(document: Any, model: type[Scenario] | type[Work] = Scenario) -> list[str]:
    with pytest.raises(ValidationError) as caught:
        model.model_validate(document)
    return [str(problem) for problem in problems_of(caught.value, model)]


@pytest.mark.parametrize("case", stack_cases.load(FOLDER), ids=lambda case: case.name)
def test_a_bad_scenario_gets_its_whole_message(case: Case) -> None:
    assert problems(case.document) == list(case.problems)


def test_the_scenario_that_bad_ones_are_like_is_valid() -> None:
    scenario = Scenario.model_validate(NIGHT)
    assert [list(arrival.moments) for arrival in scenario.arrivals] == [[300, 360, 420], [0]]
    assert [arrival.last for arrival in scenario.arrivals] == [420, 0]
    assert (scenario.lasts, scenario.speed) == (3600, 60)


def test_a_scenario_survives_its_own_validation() -> None:
    scenario = Scenario.model_validate(NIGHT)
    assert Scenario.model_validate(scenario) == scenario


VALUES: dict[str, Any] = {
    "workers": 2,
    "scales": {"min": 2, "max": 4},
    "returns": "2m",
    "mode": "allow",
    "runsFor": "5m",
    "pod": {"containers": [{"name": "main"}]},
    "cpu": "1",
    "cpuLimit": "1",
    "memory": "1Gi",
    "memoryLimit": "1Gi",
    "gpus": 1,
    "gpuSlices": 1,
    "volume": {},
    "priority": "igz-workload-low",
    "priorityClass": "mine",
    "role": "data",
    "nodeSelector": {"a": "b"},
    "tolerations": [{"operator": "Exists"}],
    "namespace": "mlrun",
    "labels": {"a": "b"},
    "team": "vision",
}


def test_the_table_of_keys_by_kind_speaks_of_every_key() -> None:
    assert VALUES.keys() == {field.alias for field in Work.model_fields.values()} - {"kind"}
    assert KINDS_OF_KEY.keys() == VALUES.keys() - {"namespace", "labels", "team"}


@pytest.mark.parametrize("kind", WorkKind)
@pytest.mark.parametrize("key", VALUES)
def test_a_key_is_taken_by_the_kinds_that_have_it_only(kind: WorkKind, key: str) -> None:
    document = {"kind": kind.value, key: VALUES[key]}
    if kind is WorkKind.POD:
        document["pod"] = VALUES["pod"]
    if kind in KINDS_OF_KEY.get(key, tuple(WorkKind)):
        Work.model_validate(document)
    else:
        [problem] = problems(document, Work)
        assert problem.startswith(f"{key}: ")


def damages(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [found for key, each in entries for found in ((*path, key), *damages(each, (*path, key)))]


ODD = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from([10**400, "5m", "all"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4) | st.integers(), inner, max_size=2),
    max_leaves=4,
)


@settings(max_examples=400, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(damages(NIGHT)), ODD), min_size=1, max_size=3))
def test_a_damaged_scenario_gives_problems_and_never_another_error(changes: list[tuple[tuple[Any, ...], Any]]) -> None:
    document = copy.deepcopy(NIGHT)
    for (*parents, last), value in changes:
        inside: Any = document
        with suppress(LookupError, TypeError):  # an earlier change took the place away
            for key in parents:
                inside = inside[key]
            inside[last] = value
    try:
        Scenario.model_validate(document)
    except ValidationError as error:
        lines = [str(problem) for problem in problems_of(error, Scenario)]
        assert lines
        assert [line for line in lines if not line.isprintable() or len(line) > LINE_MAX] == []


def test_whatever_mlrun_runs_or_watches_over_has_a_mode() -> None:
    assert {*MONITORED, *MLRUN_KINDS.values()} <= {*KINDS_OF_KEY["mode"]}
