import pytest

from tools.benchmarks.findings import Aim, Finding, Value, ratios
from tools.benchmarks.measure import Measurement
from tools.benchmarks.pairs import Estimate, Series

AIM = Aim("CPU", 1.25, "words")


@pytest.mark.parametrize(
    ("value", "verdict"),
    [
        (Estimate(1.1, 1.0, 1.2), "met"),
        (Estimate(1.1, 1.0, 1.25), "met"),
        (Estimate(1.2, 1.1, 1.3), "open"),
        (Estimate(1.3, 1.25, 1.4), "open"),
        (Estimate(1.4, 1.3, 1.5), "missed"),
        (1.25, "met"),
        (1.26, "missed"),
        (2, "missed"),
    ],
)
def test_an_aim_is_met_or_missed_only_when_the_whole_interval_says_so(value: Value, verdict: str) -> None:
    assert Finding("case", {"CPU": value}, AIM).verdict == verdict


def test_a_finding_without_an_aim_has_no_verdict() -> None:
    assert Finding("case", {"CPU": 9.0}).verdict == ""


def test_an_aim_cannot_bound_a_text() -> None:
    with pytest.raises(TypeError, match="bounds a number"):
        _ = Finding("case", {"CPU": "2.0 / 1.0"}, AIM).verdict


def test_ratios_show_the_absolute_medians_beside_them() -> None:
    subject = Series((Measurement(4, 3, 300e6),) * 3)
    floor = Series((Measurement(2, 1, 100e6),) * 3)
    assert ratios(subject, floor) == {
        "CPU": Estimate(3, 3, 3),
        "wall": Estimate(2, 2, 2),
        "memory": Estimate(3, 3, 3),
        "CPU s": "3.00 / 1.00",
        "wall s": "4.00 / 2.00",
        "MB": "300 / 100",
    }
