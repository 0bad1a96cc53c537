import pytest
import yaml

from components.contract.labels import AnnotationKey
from support.rehearsal_api import Stage
from support.rehearsal_stacks import POOLS, stack
from workbench.rehearsal.cluster.nodes import group_facts
from workbench.rehearsal.play.office_hours import office_hours_end
from workbench.rehearsal.record import Night
from workbench.rehearsal.scenario.events import OfficeHoursEnd
from workbench.rehearsal.settings import Scaler

HOURS = {"from": "08:00", "to": "19:00", "timeZone": "UTC", "nightMin": 1}
WORK = {**POOLS["work"], "size": {"min": 3, "max": 5}, "officeHours": HOURS}


def test_verdicts_know_the_minimum_of_the_night() -> None:
    known = {each.pool: each.night_min for each in group_facts(stack(pools=POOLS | {"work": WORK}))}
    assert (known["work"], known["spot"]) == (1, None)


@pytest.fixture
def stage() -> Stage:
    return Stage(stack(pools=POOLS | {"work": WORK}))


def minimums(stage: Stage) -> dict[str, str]:
    """Return the minimum and the desired size of each group, as the autoscaler reads them."""
    maps = {each["metadata"]["name"]: each for each in stage.api.get("/configmaps")["items"]}
    items = yaml.safe_load(maps["kwok-provider-templates"]["data"]["templates"])["items"]
    found = {}
    for item in items:
        given = item["metadata"]["annotations"]
        assert given[AnnotationKey.SIZE_MIN] == given[AnnotationKey.SIZE_DESIRED]
        found[given[AnnotationKey.GROUP]] = f"{given[AnnotationKey.SIZE_MIN]}..{given[AnnotationKey.SIZE_MAX]}"
    return found


def test_hours_lower_the_minimum_of_their_pools_for_a_night_and_no_other_bound(stage: Stage) -> None:
    steps = office_hours_end(
        stage.site, OfficeHoursEnd.model_validate({"event": "office-hours", "at": "0s", "lasts": "2h"})
    )
    assert next(steps) == 2 * 3600
    assert stage.chronicle.nights == [Night(0)]
    stage.wait(7200)
    assert minimums(stage) == {"work": "1..5", "spot": "0..5", "gpu": "0..2"}
    assert next(steps, None) is None
    assert minimums(stage) == {"work": "3..5", "spot": "0..5", "gpu": "0..2"}
    assert stage.chronicle.nights == [Night(0, 7200)]
    said = [each.text for each in stage.chronicle.happenings]
    assert said == ["the hours end: work has at least 1", "the hours begin: work has at least 3"]


def test_under_karpenter_nothing_changes_and_no_autoscaler_starts(stage: Stage) -> None:
    stage.cluster.scaler = Scaler.KARPENTER
    steps = office_hours_end(
        stage.site, OfficeHoursEnd.model_validate({"event": "office-hours", "at": "0s", "lasts": "2h"})
    )
    assert next(steps, None) is None
    assert stage.api.get("/configmaps")["items"] == []
    assert stage.chronicle.nights == []
    (said,) = (each.text for each in stage.chronicle.happenings)
    assert said.startswith("no office hours under Karpenter")
