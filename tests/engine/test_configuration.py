"""Plain `pulumi`: what is wrong with a configuration is said in the same words, without a traceback."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from infra.config import CONFIG_KEY
from support.stack_files import VALID
from workbench.system.paths import PROJECT_ROOT
from workbench.toolchain import ensure, environment

pytestmark = pytest.mark.engine


@dataclass(frozen=True)
class Project:
    """The program in a project of its own, with a backend in its folder."""

    folder: Path
    environment: dict[str, str]

    def pulumi(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["pulumi", *arguments, "--non-interactive", "--color", "never"],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )

    def preview(self, stack_file: str) -> str:
        salt = yaml.safe_load((self.folder / "Pulumi.wrong.yaml").read_text())
        (self.folder / "Pulumi.wrong.yaml").write_text(stack_file + yaml.safe_dump(salt))
        result = self.pulumi("preview", "--stack", "wrong")
        (self.folder / "Pulumi.wrong.yaml").write_text(yaml.safe_dump(salt))
        assert result.returncode != 0
        return result.stdout + result.stderr


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    folder = tmp_path_factory.mktemp("project")
    runtime = {"name": "python", "options": {"toolchain": "pip", "virtualenv": str(PROJECT_ROOT / ".venv")}}
    definition = {"name": "igz-clusters", "main": str(PROJECT_ROOT / "infra"), "runtime": runtime}
    (folder / "Pulumi.yaml").write_text(yaml.safe_dump(definition))
    own = {"PULUMI_BACKEND_URL": f"file://{folder}", "PULUMI_CONFIG_PASSPHRASE": "test"}
    project = Project(folder, {**os.environ, **environment(ensure(hermetic=True)), **own})
    assert project.pulumi("stack", "init", "wrong").returncode == 0
    return project


def test_every_problem_is_printed_and_no_traceback(project: Project) -> None:
    printed = project.preview(VALID.replace("environment: dev", "environment: prd").replace("min: 2", "min: 1"))
    assert "error: environment: unknown value, did you mean 'prod'? (given: 'prd'; allowed: dev, prod)" in printed
    assert "error: pools.initial.size: NG-07: a pool of role 'initial' must have a fixed size" in printed
    assert "Traceback" not in printed


@pytest.mark.parametrize(
    ("choices", "given"), [(None, "null"), ("local", "'local'"), (["local"], "a list")], ids=["none", "text", "list"]
)
@pytest.mark.full
def test_choices_that_are_no_mapping_are_answered(project: Project, choices: object, given: str) -> None:
    config = {"config": {CONFIG_KEY: choices}} if choices else {}
    printed = project.preview(yaml.safe_dump(config) if config else "")
    assert f"error: {CONFIG_KEY}: must be a mapping with the keys schemaVersion" in printed
    assert f"(given: {given})" in printed
    assert "Traceback" not in printed


def test_an_encrypted_value_is_refused_and_never_printed(project: Project) -> None:
    file = project.folder / "Pulumi.wrong.yaml"
    before = file.read_text()
    path = f"{CONFIG_KEY}.environment"
    assert project.pulumi("config", "set", "--stack", "wrong", "--secret", "--path", path, "hunter2").returncode == 0
    printed = project.pulumi("preview", "--stack", "wrong")
    file.write_text(before)
    assert (
        f"error: {CONFIG_KEY}: holds an encrypted value; this configuration must not be encrypted, use plain values"
        in printed.stdout
    )
    assert "hunter2" not in printed.stdout + printed.stderr
