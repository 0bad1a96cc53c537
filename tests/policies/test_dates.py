"""What is right today may be wrong tomorrow, and the rules know which day it is."""

from datetime import date
from typing import Any

import pytest

from components.contract.kubernetes_minors import MINORS, KubernetesMinor, Support, calendar
from policies.examples import load
from support.minors import NEWEST
from support.policies import Report, Wire

[GOOD] = [example for example in load() if (example.rule, example.name) == ("HE-05", "good")]


def judged_on(day: date, monkeypatch: pytest.MonkeyPatch, version: str = "1.35") -> Report:
    monkeypatch.setattr("policies.settings.today", lambda: day)
    cluster = GOOD.resources[0]
    props: dict[str, Any] = {**cluster.props, "version": version}
    return Wire(stack=GOOD.stack_config).judge_stack([(cluster.type, cluster.name, props)])


@pytest.mark.parametrize(
    ("day", "outcome"),
    [
        (date(2027, 1, 26), ([], [])),
        (date(2027, 1, 27), ([], ["HE-05"])),
        (date(2027, 3, 27), ([], ["HE-05"])),
        (date(2027, 3, 28), (["HE-05"], [])),
    ],
)
def test_the_end_of_a_version_is_announced_and_then_enforced(
    day: date, outcome: tuple[list[str], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert calendar("eks")["1.35"].ends == date(2027, 3, 27)
    report = judged_on(day, monkeypatch)
    about_versions = [[rule for rule in found if rule == "HE-05"] for found in (report.violated, report.advised)]
    assert tuple(about_versions) == outcome


def test_a_version_whose_end_is_not_announced_is_supported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MINORS, NEWEST, KubernetesMinor(support={"eks": Support(None)}))  # type: ignore[arg-type]
    assert judged_on(date(2030, 1, 1), monkeypatch, NEWEST).outcome["expect"] == ["HE-07"]
