"""Stack files that are shown as examples are examples: what they make passes every rule."""

import pytest

from infra.program import run
from support import aks  # noqa: F401 answers for Azure's calls
from support.policies import Wire, sent
from support.recorder import record
from workbench import stacks


@pytest.mark.parametrize(
    ("name", "advice"),
    # Keys of the company's own are advised in development, and take a vault that somebody must look after.
    [("dev", []), ("prod", []), ("aks-dev", ["HA-08"]), ("aks-prod", [])],
)
def test_what_a_shown_stack_file_makes_passes_every_rule_without_a_doubt(name: str, advice: list[str]) -> None:
    config = stacks.find(name).config
    report = Wire(stack={"environment": config.environment.value, "profile": config.profile.value}).judge_stack(
        sent(record(lambda: run(config)))
    )
    assert report.outcome == {"expect": [], "advise": advice, "unjudged": []}, report.messages
