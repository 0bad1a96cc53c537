import pytest

from support.records import group, hints, node, pod, record, verdicts
from workbench.rehearsal.record import Night
from workbench.rehearsal.verdicts.costs import costs_of
from workbench.rehearsal.verdicts.nodes import peak

WORK, GPU, FIXED = group(size=(1, 5)), group("gpu", role="gpu", size=(0, 2)), group("fixed", size=(2, 2))
AGAIN = {"expect": "minimum-again"}
GROUPS = [WORK, GPU, FIXED]


def test_groups_at_their_minimum_are_back() -> None:
    nodes = [node("w0", WORK), node("g0", GPU, created=100, gone=900, gone_cause="autoscaler")]
    (verdict,) = verdicts(record(groups=GROUPS, nodes=nodes), AGAIN)
    assert verdict.is_met
    assert verdict.measured == "2 elastic groups at the minimum"


def test_a_group_above_its_minimum_is_named_with_the_pods_that_hold_it() -> None:
    nodes = [node("w0", WORK), node("w1", WORK, created=10), node("w2", WORK, created=10)]
    held = pod("a", on="w2")
    (verdict,) = verdicts(record([held], groups=GROUPS, nodes=nodes), AGAIN)
    assert not verdict.is_met
    assert verdict.measured == "workload has 3 nodes, minimum 1"
    assert verdict.pods == ("a",)


@pytest.mark.parametrize(("there", "is_met"), [(1, True), (2, True), (3, False)])
def test_nodes_of_the_headroom_may_stay_in_any_group_of_the_pool(there: int, *, is_met: bool) -> None:
    first, second = group("a", pool="jobs", size=(1, 5), headroom=1), group("b", pool="jobs", size=(0, 5), headroom=1)
    nodes = [node("a0", first), *(node(f"b{number}", second) for number in range(1, there))]
    (verdict,) = verdicts(record(groups=[first, second], nodes=nodes), AGAIN)
    assert verdict.is_met is is_met
    assert is_met or verdict.measured == "b has 2 nodes, minimum 0, headroom 1"


@pytest.mark.parametrize(("at", "minimum"), [(None, 0), ("30m", 3), ("50m", 0), ("20m", 3)])
def test_outside_of_office_hours_the_minimum_is_that_of_the_night(at: str | None, minimum: int) -> None:
    works = group(size=(3, 5), night_min=0)
    facts = record(
        groups=[works, GPU], nodes=[node(f"w{n}", works) for n in range(3)], nights=[Night(600, 1200), Night(2400)]
    )
    (verdict,) = verdicts(facts, AGAIN | ({"at": at} if at else {}))
    assert verdict.is_met is bool(minimum)
    assert verdict.measured == ("2 elastic groups at the minimum" if minimum else "workload has 3 nodes, minimum 0")


def test_a_moment_is_judged_by_the_nodes_and_pods_of_that_moment() -> None:
    nodes = [node("w0", WORK), node("w1", WORK, created=10, gone=1900), node("w2", WORK, created=2000)]
    pods = [pod("a", on="w1", lasts=1850), pod("b", on="w2", created=2000)]
    before, between, after = (
        verdicts(record(pods, groups=GROUPS, nodes=nodes), AGAIN | {"at": at})[0] for at in ("30m", "1950s", "50m")
    )
    assert (before.measured, before.pods) == ("workload has 2 nodes, minimum 1", ("a",))
    assert before.expectation == "all elastic groups are at their minimum again at 30m"
    assert between.is_met
    assert (after.is_met, after.pods) == (False, ("b",))


def test_empty_nodes_that_are_left_at_a_moment_ask_for_a_later_one() -> None:
    facts = record(groups=GROUPS, nodes=[node("w0", WORK), node("w1", WORK)])
    found = hints(facts, AGAIN | {"at": "30m"})
    assert found["expectations"].endswith("had not removed them at 30m.")


def test_only_groups_of_the_place_must_be_back() -> None:
    nodes = [node("w1", WORK), node("w2", WORK)]
    assert verdicts(record(groups=GROUPS, nodes=nodes), AGAIN | {"place": {"role": "gpu"}})[0].is_met


def test_a_stack_without_elastic_groups_is_always_at_its_minimum() -> None:
    assert verdicts(record(groups=[FIXED], nodes=[node("f", FIXED)]), AGAIN)[0].is_met


def test_the_peak_counts_nodes_that_exist_at_the_same_moment() -> None:
    nodes = [node("a", WORK, gone=100), node("b", WORK, created=100), node("c", WORK, created=50, gone=200)]
    assert peak(nodes, 3600) == 2
    assert peak([], 3600) == 0
    assert peak([node("before", WORK, created=-10, gone=0)], 3600) == 0


@pytest.mark.parametrize(
    ("bound", "is_met"),
    [
        ({"nodeHours": 1.5}, True),
        ({"nodeHours": 1.4}, False),
        ({"nodes": 2}, True),
        ({"nodes": 1}, False),
        ({"usd": 3.0}, True),
        ({"usd": 2.9}, False),
        ({"nodeHours": 9, "nodes": 1}, False),
    ],
)
def test_every_bound_is_judged(bound: dict[str, float], is_met: bool) -> None:
    facts = record(groups=GROUPS, nodes=[node("w0", WORK), node("w1", WORK, created=1800)])
    costs = costs_of(facts, lambda *_: 2.0)
    (verdict,) = verdicts(facts, {"expect": "at-most"} | bound, costs=costs)
    assert verdict.is_met is is_met


def test_a_bound_of_a_place_counts_its_nodes_only() -> None:
    facts = record(groups=GROUPS, nodes=[node("w0", WORK), node("g0", GPU)])
    costs = costs_of(facts, lambda name, _: 10.0 if name.startswith("g5") else 1.0)
    gpu, cheap = verdicts(
        facts,
        {"expect": "at-most", "place": {"role": "gpu"}, "usd": 9},
        {"expect": "at-most", "place": {"pool": "workload"}, "usd": 1},
        costs=costs,
    )
    assert gpu.measured == "10.00 USD"
    assert not gpu.is_met
    assert cheap.is_met


def test_a_zone_gets_its_share_of_a_pools_price() -> None:
    a, b = group("w-a", pool="w", zone="a"), group("w-b", pool="w", zone="b")
    facts = record(groups=[a, b], nodes=[node("n1", a), node("n2", b), node("n3", b)])
    (verdict,) = verdicts(
        facts, {"expect": "at-most", "place": {"zone": "b"}, "usd": 5}, costs=costs_of(facts, lambda *_: 2.0)
    )
    assert verdict.measured == "4.00 USD"


def test_a_bound_in_money_cannot_be_judged_without_prices() -> None:
    facts = record(groups=GROUPS, nodes=[node("w0", WORK)])
    for costs in (costs_of(facts, lambda *_: None), None):
        (verdict,) = verdicts(facts, {"expect": "at-most", "usd": 99}, costs=costs)
        assert not verdict.is_met
        assert verdict.measured == "cannot be judged: no price of m6i.2xlarge"
        assert "prices refresh" in verdict.hints[0].action


def test_a_bound_in_money_can_be_judged_without_a_price_only_if_the_others_exceed_it() -> None:
    facts = record(groups=GROUPS, nodes=[node("w0", WORK), node("g0", GPU)])
    costs = costs_of(facts, lambda name, _: None if name.startswith("g5") else 2.0)
    above, below, other = verdicts(
        facts,
        {"expect": "at-most", "usd": 1},
        {"expect": "at-most", "usd": 99},
        {"expect": "at-most", "usd": 1, "place": {"role": "workload"}},
        costs=costs,
    )
    assert above.measured == "at least 2.00 USD: no price of g5.2xlarge"
    assert below.measured == "cannot be judged: at least 2.00 USD, no price of g5.2xlarge"
    assert (above.is_met, below.is_met) == (False, False)
    assert other.measured == "2.00 USD"
    assert not any("not known" in hint.cause for hint in other.hints)


def test_a_bound_of_all_nodes_counts_the_control_plane_and_that_of_a_place_does_not() -> None:
    facts = record(groups=GROUPS, nodes=[node("w0", WORK)])
    whole, place = verdicts(
        facts,
        {"expect": "at-most", "usd": 2.05},
        {"expect": "at-most", "usd": 2.05, "place": {"pool": "workload"}},
        costs=costs_of(facts, lambda *_: 2.0, fee=0.1),
    )
    assert (whole.is_met, whole.measured) == (False, "2.10 USD, 0.10 of it for the control plane")
    assert (place.is_met, place.measured) == (True, "2.00 USD")


def test_a_number_of_nodes_that_existed_only_shortly_at_a_time_may_vary() -> None:
    nodes = [node("w0", WORK, gone=1800), node("w1", WORK, created=1750), node("fixed-0", FIXED, gone=1800)]
    one, two, three = verdicts(
        record(groups=GROUPS, nodes=nodes), *({"expect": "at-most", "nodes": most} for most in (1, 2, 3))
    )
    assert [each.is_met for each in (one, two, three)] == [False, False, True]
    assert "how long nodes live" in two.may_vary
    assert (one.may_vary, three.may_vary) == ("", "")


def test_node_hours_near_the_bound_may_vary() -> None:
    facts = record(groups=GROUPS, nodes=[node("w0", WORK, gone=1800)])
    assert verdicts(facts, {"expect": "at-most", "nodeHours": 0.51})[0].may_vary
    assert not verdicts(facts, {"expect": "at-most", "nodeHours": 0.9})[0].may_vary
