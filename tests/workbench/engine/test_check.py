"""Evaluation of all rules without the engine."""

from workbench import stacks
from workbench.engine.check import check
from workbench.system.paths import PROJECT_ROOT


def test_rules_that_had_something_to_judge_are_told_from_those_that_had_nothing() -> None:
    done = check(stacks.read(stacks.stack_files(PROJECT_ROOT)["existing"]))
    assert {"NG-02", "NG-07", "HK-01", "HK-04"} <= done.judged
    assert done.judged.isdisjoint({"HE-03", "HA-08", "NG-22", "HW-01"})
