from pathlib import Path
from typing import Any

import pytest

from support.event_lines import events, lines, resource
from support.streams import stream
from workbench.report import costs, markdown
from workbench.report.events import read
from workbench.report.model import Report, Source
from workbench.report.money import Cost, amounts, basis, left_out
from workbench.report.pools import before_and_after
from workbench.report.verdict import Case, judge
from workbench.stacks import FOLDER_VARIABLE

STACK = "igz-clusters-prod"
FEE = 73
"""EKS's fee for a control plane, USD a month."""


def cost(content: bytes) -> Cost | None:
    return judge(Case("prod", Source.COMPARED, read(content))).cost


def edited(change: Any, name: str = "larger") -> bytes:
    """Return a stream whose outputs of the stack after the change are changed once more."""
    found = events(name)
    for step in resource(found, STACK):
        if step["new"] and "pools" in step["new"]["outputs"]:
            change(step["new"]["outputs"])
    return lines(found)


def test_a_larger_pool_costs_more_at_the_largest_size_only() -> None:
    two_more = round(2 * 0.428 * 730)
    found = cost(stream("larger"))
    assert found
    assert found.least_before == found.least_after == round((2 * 0.214 + 0.428) * 730 + FEE)
    assert found.most_before
    assert found.most_after - found.most_before == pytest.approx(two_more, abs=1)
    assert (found.regions, found.lifecycles, found.assumed) == (("eu-west-1",), ("on-demand", "spot"), False)


def test_a_first_creation_has_nothing_to_compare_with() -> None:
    found = cost(stream("first"))
    assert found
    assert (found.least_before, found.most_before) == (None, None)
    assert found.least_after == 698


def test_a_destroyed_stack_costs_nothing_afterwards() -> None:
    read_stream = read(stream("larger"))
    before, _ = before_and_after(read_stream)
    found = costs.cost(read_stream, (before, {}), "eks", "prod")
    assert found
    assert found.least_before == 698
    assert (found.least_after, found.most_after) == (0, 0)


@pytest.mark.parametrize("name", ["unchanged", "replaced"])
def test_without_a_change_of_pools_nothing_is_said(name: str) -> None:
    assert cost(stream(name)) is None


def test_groups_without_a_price_are_named() -> None:
    def change(outputs: dict[str, Any]) -> None:
        outputs["pools"][-1]["instanceTypes"] = ["16cpu-64gib"]

    found = cost(edited(change))
    assert found
    assert len(found.unpriced) == 1


def test_texts_of_the_stream_are_only_looked_up() -> None:
    def change(outputs: dict[str, Any]) -> None:
        outputs["cluster"]["region"] = "<b>moon</b>"
        for pool in outputs["pools"]:
            pool["lifecycle"] = "<b>x</b>"

    report = judge(Case("prod", Source.COMPARED, read(edited(change))))
    assert report.cost
    assert "<b>" not in f"{amounts(report.cost)} {basis(report.cost)} {left_out(report.cost)}"


def test_the_accounts_own_prices_apply_and_an_invalid_file_leaves_the_line_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    table = '{"date": "2030-01-01", "source": "contract", "usdPerHour": {"m6i.xlarge": 1, "m6i.2xlarge": 2}}'
    text = f'{{"format": 1, "providers": {{"aws": {{"eu-west-1": {{"onDemand": {table}}}}}}}}}'
    (tmp_path / "prices.json").write_text(text)
    found = cost(stream("larger"))
    assert found
    assert found.least_after == 4 * 730 + FEE
    (tmp_path / "prices.json").write_text("{}")
    assert cost(stream("larger")) is None


def test_the_comment_shows_the_change_in_money() -> None:
    stack = judge(Case("prod", Source.COMPARED, read(stream("larger"))))
    line = next(line for line in markdown.render(Report(stack.outcome, (stack,))).splitlines() if "Cost" in line)
    assert line == (
        "**Cost**: 698 USD a month at the smallest size (unchanged), 6,447 → 7,072 at the largest; "
        "prices of 2025-05, on-demand and spot, eu-west-1, before discounts."
    )


def test_many_groups_without_a_price_are_counted() -> None:
    names = tuple(f"g{number}" for number in range(8))
    many = Cost(None, None, 1, 2, ("2026-01",), ("spot",), ("eastus",), assumed=True, unpriced=names)
    assert left_out(many) == ["g0", "g1", "g2", "g3", "g4", "3 more"]
    assert amounts(many) == "1 USD a month at the smallest size, 2 at the largest"
    assert basis(many) == "prices of 2026-01, spot, eastus (assumed), before discounts"
