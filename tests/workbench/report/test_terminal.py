from io import StringIO

from rich.console import Console

from support.streams import stream
from workbench.report import terminal
from workbench.report.events import read
from workbench.report.model import Finding, FindingStatus, Judge, JudgeChange, Outcome, Report, Source, StackReport
from workbench.report.verdict import Case, judge


def printed(report: Report, width: int = 200) -> str:
    console = Console(file=StringIO(), width=width, emoji=False)
    terminal.show(report, console)
    text = console.file
    assert isinstance(text, StringIO)
    return text.getvalue()


def of(name: str, source: Source = Source.COMPARED) -> str:
    stack = judge(Case("prod", source, read(stream(name))))
    return printed(Report(stack.outcome, (stack,)))


def test_a_small_change_is_read_at_a_glance() -> None:
    assert (
        of("larger")
        == """\
prod (prod, eks): Passed

Update, 3 resources
  aws:autoscaling/tag:Tag prod-spot/k8s.io/cluster-autoscaler/node-template/label/example.com/team: \
tag.value ml -> other
  aws:eks/nodeGroup:NodeGroup prod-spot: labels["example.com/team"] ml -> other
  aws:eks/nodeGroup:NodeGroup prod-workload: scalingConfig.maxSize 10 -> 12

Pools
  pool        what      before                 after
  spot        labels    example.com/team=ml    example.com/team=other
  workload    size      1..10                  1..12

Node-hours a month: 2,190 at the smallest sizes (difference: none), 24,820 at the largest sizes (difference: +1,460)
Cost: 698 USD a month at the smallest size (unchanged), 6,447 → 7,072 at the largest; prices of 2025-05, on-demand \
and spot, eu-west-1, before discounts.

update 3; 125 unchanged; 111 rules evaluated
"""
    )


def test_a_first_creation_is_a_line_for_each_kind() -> None:
    text = of("first", Source.RENDERED)
    assert text.splitlines()[1].startswith("Not compared with the live stack")
    assert "    14  aws:autoscaling/tag:Tag  " in text
    assert len(text.splitlines()) < 70


def test_what_would_be_lost_comes_before_all_else() -> None:
    text = of("replaced")
    assert text.index("\nDangers\n") < text.index("\nReplaced and deleted\n") < text.index("\nUpdate, ")
    assert (
        "replace cluster prod-cluster (aws:eks/cluster:Cluster); forced by name research -> other; lost with it" in text
    )
    assert text.count("; not approved\n") == 3
    for name in ("prod-spot", "prod-workload", "prod-addons-coredns", "prod-cluster-secrets"):
        assert name in text


def test_a_violation_is_told_with_the_way_out() -> None:
    text = of("violating")
    assert "  NG-11 violated, by the rules of the change alone: aws:eks/nodeGroup:NodeGroup prod-workload\n" in text
    assert "      pool 'workload' may grow to 200 nodes, wanted at most 100.\n" in text
    assert "      Fix: Set the largest size" in text


def test_what_changes_in_the_judge_comes_first() -> None:
    stacks = tuple(StackReport(name, "dev", "eks", Source.DONE, Outcome.PASSED) for name in ("a", "b"))
    judge_change = JudgeChange("policies/overrides.yaml", "adds a waiver")
    text = printed(Report(Outcome.REVIEW, stacks, (judge_change,), ("docs",), problems=("no",)))
    assert text.startswith("Owners must review\n")
    assert text.index("policies/overrides.yaml: adds a waiver") < text.index("a (dev, eks): Passed")
    assert text.endswith("Not affected: docs\n")


def test_marks_of_the_terminals_library_are_only_text() -> None:
    wrong = "[red]x[/red] [link=http://x]y[/link] :smile:"
    finding = Finding("NG-11", FindingStatus.VIOLATED, Judge.BOTH, "", wrong, wrong)
    stack = StackReport(
        wrong, "", "", Source.COMPARED, Outcome.BLOCKED, (wrong,), findings=(finding,), problems=(wrong,)
    )
    assert printed(Report(Outcome.BLOCKED, (stack,))).count(wrong) == 5
