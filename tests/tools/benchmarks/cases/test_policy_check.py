from pathlib import Path
from typing import Any, NoReturn

import pytest

from policies.examples import Given
from tools.benchmarks.arena import Arena
from tools.benchmarks.cases.policy_check import Looked, checkov_looked, ours_looked, policy_check
from workbench.system.errors import UserError
from workbench.toolchain import Toolchain

GROUP = Given("aws:eks/nodeGroup:NodeGroup", "gpu", {}, {})
NAMESPACE = Given("kubernetes:core/v1:Namespace", "ml", {"metadata": {"name": "ml"}}, {})


def report(check_type: str, resources: int, passed: list[str], failed: list[str], errors: int = 0) -> dict[str, Any]:
    return {
        "check_type": check_type,
        "summary": {"resource_count": resources, "parsing_errors": errors},
        "results": {
            "passed_checks": [{"check_id": each} for each in passed],
            "failed_checks": [{"check_id": each} for each in failed],
        },
    }


def test_checkovs_rules_are_counted_once_and_its_judgements_each_time() -> None:
    reports = [report("terraform_plan", 1, ["A"], ["B"]), report("kubernetes", 1, ["K", "K"], [])]
    assert checkov_looked(reports, [GROUP, NAMESPACE]) == Looked(rules=3, judgements=4)


@pytest.mark.parametrize(
    "reports",
    [
        [report("terraform_plan", 0, [], []), report("kubernetes", 1, ["K"], [])],
        [report("terraform_plan", 1, ["A"], []), report("kubernetes", 0, [], [])],
        [report("terraform_plan", 1, ["A"], [], errors=1), report("kubernetes", 1, ["K"], [])],
        [report("kubernetes", 1, ["K"], [])],
    ],
)
def test_a_checkov_that_did_not_read_everything_is_no_floor(reports: list[Any]) -> None:
    with pytest.raises(UserError, match=r"checkov read \d of 1 AWS resources and \d of 1 objects"):
        checkov_looked(reports, [GROUP, NAMESPACE])


def test_our_rules_that_look_at_nothing_there_do_not_count() -> None:
    groups, none = ours_looked([GROUP, GROUP]), ours_looked([NAMESPACE])
    assert groups.rules > none.rules
    assert groups.judgements > groups.rules


def test_without_checkov_the_page_says_so_and_the_other_cases_go_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def offline(_: Path) -> NoReturn:
        raise UserError("checkov could not be installed.\nno network", "Look at the network.")

    # Their package offers the function under the name of its module.
    monkeypatch.setitem(policy_check.__globals__, "interpreter", offline)
    said: list[str] = []
    [finding] = policy_check(Arena(Toolchain(tmp_path), tmp_path), None, said.append)
    assert finding.values == {"not measured": "checkov could not be installed."}
    assert "no network" in said[-1]
