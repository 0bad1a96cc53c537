"""The table of a duel: three columns joined by their figures, colour beyond noise only, and facts."""

import io
from dataclasses import replace

from rich.console import Console

from support import outcomes
from workbench.rehearsal.duel.table import Duel, DuelRow, duel, show
from workbench.rehearsal.outcome import Outcome
from workbench.rehearsal.record import PodEnd
from workbench.rehearsal.report import as_json, page
from workbench.rehearsal.settings import Scaler

AUTOSCALER, KARPENTER, EMPTY = Scaler


def table(karpenter: Outcome, empty: Outcome | None = None) -> Duel:
    first = outcomes.night()
    return duel("dev", {AUTOSCALER: first, KARPENTER: karpenter, EMPTY: empty or first})


def row(found: Duel, name: str) -> DuelRow:
    (known,) = (each for each in found.rows if each.name == name)
    return known


def moved(outcome: Outcome, *, replaced: bool) -> Outcome:
    """Return an outcome in which the scaler took one pod."""
    assert outcome.record
    pods = list(outcome.record.pods)
    index = next(index for index, pod in enumerate(pods) if pod.work and pod.end is PodEnd.SUCCEEDED)
    taken = replace(pods[index], end=PodEnd.LOST, end_cause="autoscaler removed node x")
    pods[index] = taken
    if replaced:
        pods.append(replace(taken, uid="heir", name="heir", end=PodEnd.SUCCEEDED, end_cause="", replaces=taken.uid))
    return replace(outcome, record=replace(outcome.record, pods=tuple(pods)))


def test_each_figure_is_one_row_with_a_cell_for_each_scaler() -> None:
    found = table(outcomes.night(gpu_max=6))
    assert found.scalers == ("Cluster Autoscaler", "Karpenter", "Karpenter, empty nodes")
    wait = row(found, "train, longest wait")
    assert (wait.first, [cell.text for cell in wait.others]) == ("1h40m", ["15m", "1h40m"])
    assert [(cell.change, cell.is_better) for cell in wait.others] == [("-1h25m", True), ("", None)]
    money = row(found, "total, USD")
    assert (money.first, money.others[0].text, money.others[0].is_better) == ("9.28", "13.16", False)


def test_expectations_losses_and_money_are_shown_without_a_difference() -> None:
    found = table(outcomes.night())
    assert {each.about for each in found.rows} == {"expectation", "pods", "node-hours", "usd"}
    assert found.facts[0] == "No figure differs by more than two runs under the same scaler may differ."


def test_a_difference_within_noise_has_no_colour() -> None:
    first = outcomes.night()
    assert first.costs
    total = replace(first.costs.total, usd=first.costs.total.usd + 0.02, node_hours=first.costs.total.node_hours + 0.1)
    found = table(replace(first, costs=replace(first.costs, total=total)))
    cell = row(found, "total, USD").others[0]
    assert (cell.change, cell.is_better) == ("+0.02", None)


def test_pods_that_karpenter_moved_and_nothing_created_again_come_with_what_keeps_them() -> None:
    found = table(moved(outcomes.night(), replaced=False))
    assert any("Karpenter moved 1 pod" in fact and "not created again: 1" in fact for fact in found.facts)
    assert any('karpenter.sh/do-not-disrupt: "true"' in fact for fact in found.facts)


def test_pods_that_were_created_again_need_no_remedy() -> None:
    found = table(moved(outcomes.night(), replaced=True))
    assert any(fact.endswith("all were created again.") for fact in found.facts)
    assert not any("do-not-disrupt" in fact for fact in found.facts)


def test_terminal_json_and_page_show_the_same_table() -> None:
    found = table(moved(outcomes.night(gpu_max=6), replaced=False))
    console = Console(file=(text := io.StringIO()), width=200)
    show(found, console)
    played = [outcomes.night()]
    html = page.render(played, duels=[found])
    (document,) = as_json.document(played, duels=[found])["duels"]
    assert (document["stack"], document["scalers"]) == ("dev", list(found.scalers))
    assert [each["name"] for each in document["rows"]] == [each.name for each in found.rows]
    assert document["rows"][0].keys() == {"about", "name", "first", "others"}
    assert document["rows"][0]["others"][0].keys() == {"text", "change", "isBetter"}
    for shown in (text.getvalue(), html):
        assert "Karpenter, empty nodes" in shown
        assert "train, longest wait" in shown
        assert "(-1h25m)" in shown
    assert all(fact.replace('"', "&quot;") in html for fact in found.facts)
