import pytest

from tools.benchmarks.cases.growth import DEPARTURE, SIZES, lines, namespaces
from tools.benchmarks.measure import Measurement
from tools.benchmarks.pairs import Estimate, Series

COUNTS = [40, 400, 1000, 3000]


def costing(*, fixed: float, each: float, power: float = 1) -> list[Series]:
    """Two rounds a size; the machine is twice as slow in the second."""
    totals = [fixed + each * count**power for count in COUNTS]
    return [Series((Measurement(t, t, t), Measurement(2 * t, 2 * t, 2 * t))) for t in totals]


def test_the_slope_ratio_leaves_out_what_does_not_grow() -> None:
    found = lines(COUNTS, costing(fixed=5, each=0.003), costing(fixed=1, each=0.002))
    slope = found[-2].values["slope"]
    assert isinstance(slope, Estimate)
    assert slope.median == pytest.approx(1.5)
    assert slope.low == pytest.approx(slope.high)
    assert found[-2].verdict == "missed"


def test_a_straight_line_meets_the_aim_and_a_square_misses_it() -> None:
    straight, square = (
        lines(COUNTS, costing(fixed=1, each=0.01, power=power), costing(fixed=1, each=0.01))[-1] for power in (1, 2)
    )
    assert straight.values[DEPARTURE] == pytest.approx(0)
    assert (straight.verdict, square.verdict) == ("met", "missed")


@pytest.mark.parametrize("size", SIZES)
def test_a_size_is_reached_within_a_few_resources(size: int) -> None:
    from infra.config import parse  # noqa: PLC0415
    from infra.program import run  # noqa: PLC0415
    from support.recorder import record  # noqa: PLC0415

    recorded = record(lambda: run(parse(namespaces(min(size, 400))), kubeconfig="/nowhere")).resources
    assert abs(len(recorded) - min(size, 400)) <= 7
