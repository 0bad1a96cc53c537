"""Facts that rules guard are weakened behind validation; the real engine's preview must fail with those rules."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from components.contract.existing.cluster_inventory import INVENTORY_VARIABLE, ClusterInventory
from support.cluster import Cluster
from support.sampled import sampled
from support.weakenings import WEAKENINGS, together
from workbench.stacks import find, stack_files
from workbench.system.paths import PROJECT_ROOT

pytestmark = pytest.mark.engine

TOGETHER = together(WEAKENINGS)
KEPT = [next(names for names in TOGETHER if WEAKENINGS[names[0]].stack == stack) for stack in ("local", "existing")]
"""One preview for each kind of cluster, in `make test`."""
PREVIEWS = [pytest.param(names, marks=[] if names in KEPT else pytest.mark.full) for names in TOGETHER]
WEAKENED = PROJECT_ROOT / "tests" / "engine" / "weakened"


@dataclass(frozen=True)
class Previewer:
    """Previews the weakened program against an empty control plane, with a backend of its own."""

    project: Path
    environment: dict[str, str]

    def pulumi(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["pulumi", *arguments, "--non-interactive"],
            cwd=self.project,
            env={**os.environ, **self.environment, **variables},
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )

    def preview(self, stack: str, *weakenings: str) -> subprocess.CompletedProcess[str]:
        return self.pulumi("preview", "--stack", stack, "--color", "never", WEAKENINGS=" ".join(weakenings))


@pytest.fixture(scope="module")
def previewer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Previewer]:
    project, data = tmp_path_factory.mktemp("project"), tmp_path_factory.mktemp("data")
    runtime = {"name": "python", "options": {"toolchain": "pip", "virtualenv": str(PROJECT_ROOT / ".venv")}}
    definition = {"name": "igz-clusters", "main": str(WEAKENED), "runtime": runtime}
    (project / "Pulumi.yaml").write_text(yaml.safe_dump(definition))
    cluster = Cluster(data)
    try:
        environment = {
            **cluster.exports(),
            "PULUMI_BACKEND_URL": f"file://{project}",
            "PYTHONPATH": str(PROJECT_ROOT / "tests"),
        }
        environment["PATH"] = cluster.exports()["PATH"]
        sighting = project / "sighting"  # of a cluster that was not inspected
        sighting.write_text(ClusterInventory(find("existing").config.cluster.cluster_id).to_json())
        environment[INVENTORY_VARIABLE] = str(sighting)
        for unwanted in ("PULUMI_STACK", "PULUMI_OPTION_CONFIG_FILE"):
            environment.pop(unwanted)
        previewer = Previewer(project, environment)
        for name, file in stack_files().items():
            shutil.copy(file, project)
            assert previewer.pulumi("stack", "init", name).returncode == 0
        yield previewer
    finally:
        cluster.command("local", "stop", "--all")


def fired(output: str) -> set[str]:
    return set(re.findall(r"\[([A-Z]{2}-\d{2})\]", output))


@pytest.mark.parametrize("stack", sampled(("existing", "local", "local-prod"), ["existing"]))
def test_the_program_as_it_is_passes(previewer: Previewer, stack: str) -> None:
    result = previewer.preview(stack)
    assert result.returncode == 0, result.stdout + result.stderr
    assert fired(result.stdout + result.stderr) == set()


# That each does so alone is shown without the engine: tests/test_stacks.py.
@pytest.mark.parametrize("names", PREVIEWS, ids=", ".join)
def test_weakened_facts_fail_the_preview_with_exactly_their_rules(previewer: Previewer, names: list[str]) -> None:
    weakenings = [WEAKENINGS[name] for name in names]
    result = previewer.preview(weakenings[0].stack, *names)
    output = result.stdout + result.stderr
    assert result.returncode != 0, output
    assert fired(output) == {rule for weakening in weakenings for rule in weakening.rules}, output
    assert "Fix: " in output
