"""What the real engine plans and prints for an input that AWS keeps when the program leaves it out."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workbench.engine.render import TOOLS, offline, passed_on, project_of, with_noop_providers
from workbench.toolchain import ensure

pytestmark = pytest.mark.engine

PROGRAM = """
import json
from pathlib import Path
import pulumi_aws as aws
aws.kms.Key("secrets", **json.loads(Path("inputs.json").read_text()))
"""


@pytest.fixture
def pulumi(tmp_path: Path) -> Callable[..., Any]:
    """Run the engine on a key with some inputs; the answer is its digest."""
    toolchain = ensure(TOOLS, hermetic=True)
    variables = {**passed_on(), **with_noop_providers(offline("kept", {}, toolchain, tmp_path))}
    project = project_of(tmp_path)
    runtime = {"name": "python", "options": {"virtualenv": sys.prefix}}
    (project / "Pulumi.yaml").write_text(json.dumps({"name": "kept", "runtime": runtime}))
    (project / "__main__.py").write_text(PROGRAM)

    def run(*arguments: str, **inputs: Any) -> Any:
        (project / "inputs.json").write_text(json.dumps(inputs))
        result = subprocess.run(
            [toolchain.pulumi, *arguments, "--non-interactive"],
            cwd=project, env=variables, capture_output=True, text=True, timeout=600, check=False,
        )  # fmt: skip
        assert result.returncode == 0, result.stdout + result.stderr
        return json.loads(result.stdout) if "--json" in arguments else None

    run("stack", "init", "kept", "--no-select")
    return run


@pytest.mark.full
def test_the_engine_plans_nothing_for_what_aws_keeps_and_prints_the_warning(pulumi: Callable[..., Any]) -> None:
    pulumi("up", "--yes", "--skip-preview", description="of secrets", is_enabled=True)
    plan = pulumi("preview", "--json", is_enabled=True)
    assert {step["op"] for step in plan["steps"]} == {"same"}
    warnings = [each["message"] for each in plan["diagnostics"] if each["severity"] == "warning"]
    assert len(warnings) == 1
    said = warnings[0].removeprefix("warning: ")
    assert said.startswith("secrets: description is no longer set, but AWS keeps its value")
