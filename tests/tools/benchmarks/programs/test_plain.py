import json
from pathlib import Path
from typing import Any

import pytest

from support.offline import observe_program
from tools.benchmarks.cases.previews import STACKS
from workbench.system.paths import PROJECT_ROOT

PLAIN = PROJECT_ROOT / "tools" / "benchmarks" / "programs" / "plain"


def in_cluster(resources: list[dict[str, Any]]) -> list[dict[str, Any]]:
    kept = [each for each in resources if each["type"].startswith("kubernetes:")]
    return sorted(kept, key=lambda each: (each["type"], each["name"]))


@pytest.mark.parametrize("stack", STACKS)
def test_the_hand_written_program_declares_the_same_objects_and_no_component(stack: str, tmp_path: Path) -> None:
    ours = in_cluster(observe_program(PROJECT_ROOT / "infra", stack)["resources"])
    file = tmp_path / "resources.json"
    file.write_text(json.dumps(ours))
    by_hand = observe_program(PLAIN, stack, IGZ_BENCHMARK_RESOURCES=str(file))["resources"]
    assert ours
    assert in_cluster(by_hand) == ours
    assert len(by_hand) == len(ours) + 1, "the provider, and nothing else"
