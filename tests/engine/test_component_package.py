"""Programs in other languages with the real engine: their plans beside the Python program's, and what is refused."""

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from components.contract.component_package import CLUSTER_TYPE, PACKAGE
from infra.config import parse
from infra.config.parse import ConfigurationError
from infra.package.inputs import SECRET, UNKNOWN
from infra.package.schema import SCHEMA
from workbench.engine.render import TOOLS, choose, offline, passed_on
from workbench.engine.session import policy_packs
from workbench.report.events import RENDERED
from workbench.stacks import CONFIG_KEY
from workbench.stacks.policy_overrides import attaching
from workbench.system.paths import PROJECT_ROOT
from workbench.toolchain import Toolchain, ensure

pytestmark = [pytest.mark.engine, pytest.mark.full]

EXAMPLES = PROJECT_ROOT / "examples"
PLUGIN = PROJECT_ROOT / "infra" / "package"
LANGUAGES = ("pulumi-language-yaml", "pulumi-language-nodejs")
NOT_COMPARED = {"pulumi:pulumi:Stack", f"pulumi:providers:{PACKAGE}", CLUSTER_TYPE}
"""The stack itself, and what only a program in another language has."""

PYTHON = """\
import json
import pulumi
import pulumi_kubernetes as kubernetes

inputs = json.loads(pulumi.Config("igz-clusters").require("stack"))
{changes}
pulumi.ComponentResource("igz-clusters:index:Cluster", "cluster", inputs, None, True)
"""
"""A program that declares the component as any SDK does; ``changes`` may pass what no typed SDK lets through."""


class Engine(NamedTuple):
    """The engine with offline providers, an empty state and the packs."""

    program: str
    environment: Mapping[str, str]

    def __call__(self, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.program, *arguments, "--non-interactive", "--color", "never"],
            cwd=folder,
            env={**passed_on(), **self.environment},
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )

    def planned(self, project: Path) -> list[dict[str, Any]]:
        """Return the resources that a first preview of a program plans."""
        done = self(project, "preview", "--json")
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        steps = json.loads(done.stdout)["steps"]
        assert {step["op"] for step in steps} == {"create"}
        return [step["newState"] for step in steps]

    def refused(self, project: Path) -> str:
        """Return what a preview prints that fails."""
        done = self(project, "preview")
        assert done.returncode != 0, done.stdout[-3000:]
        assert "Traceback" not in done.stdout + done.stderr
        return done.stdout + done.stderr


def engine(stack: str, choices: Any, folder: Path, toolchain: Toolchain, languages: Path | None = None) -> Engine:
    """Return an engine for a stack of these choices, which its file holds; None for a file without any."""
    folder.mkdir()
    environment = offline(stack, choices, toolchain, folder)
    if choices is None:
        choose(Path(environment["PULUMI_OPTION_CONFIG_FILE"]), {RENDERED: "true"})
    packs = attaching(policy_packs(), {}, folder / "packs.json")
    if languages:
        environment["PATH"] = os.pathsep.join([str(languages), environment["PATH"]])
    return Engine(str(toolchain.pulumi), {**environment, **packs})


def project(engine: Engine, folder: Path, settings: Mapping[str, Any]) -> Path:
    """Write a project that uses the package of this checkout, create its stack, and return its folder."""
    folder.mkdir(exist_ok=True)
    whole = {"name": "acme-clusters", **settings, "packages": {PACKAGE: str(PLUGIN)}}
    (folder / "Pulumi.yaml").write_text(yaml.safe_dump(whole))
    done = engine(folder, "stack", "init", engine.environment["PULUMI_STACK"], "--no-select")
    assert done.returncode == 0, done.stderr
    return folder


def in_python(engine: Engine, folder: Path, changes: str = "") -> Path:
    runtime = {"name": "python", "options": {"toolchain": "pip", "virtualenv": str(PROJECT_ROOT / ".venv")}}
    made = project(engine, folder, {"runtime": runtime})
    (made / "__main__.py").write_text(PYTHON.format(changes=changes))
    return made


def in_yaml(engine: Engine, folder: Path) -> Path:
    return project(engine, folder, yaml.safe_load((EXAMPLES / "yaml" / "Pulumi.yaml").read_text()))


def in_typescript(engine: Engine, folder: Path) -> Path:
    """Copy the example, and give it what `pulumi install` makes: the package's SDK and its npm packages."""
    shutil.copytree(EXAMPLES / "typescript", folder, ignore=shutil.ignore_patterns("node_modules", "sdks"))
    made = project(engine, folder, yaml.safe_load((folder / "Pulumi.yaml").read_text()))
    done = engine(made, "package", "gen-sdk", str(SCHEMA), "--language", "nodejs", "--local", "--out", "sdks")
    assert done.returncode == 0, done.stderr
    (made / "sdks" / "nodejs").rename(made / "sdks" / PACKAGE)
    subprocess.run(["npm", "ci", "--no-audit", "--no-fund"], cwd=made, check=True, timeout=600)
    return made


def choices(stack: str) -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load((EXAMPLES / "yaml" / f"Pulumi.{stack}.yaml").read_text())
    inner: dict[str, Any] = document["config"][CONFIG_KEY]
    return inner


def by_urn(planned: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what is compared of each resource by its URN, with the component and the project left out of it."""
    return {
        each["urn"].replace(f"{CLUSTER_TYPE}$", "").replace("::acme-clusters::", f"::{PACKAGE}::"): {
            key: each.get(key) for key in ("type", "inputs", "protect", "retainOnDelete", "deleteBeforeReplace")
        }
        for each in planned
        if each["type"] not in NOT_COMPARED
    }


def component(planned: list[dict[str, Any]]) -> dict[str, Any]:
    [inputs] = [each["inputs"] for each in planned if each["type"] == CLUSTER_TYPE]
    found: dict[str, Any] = inputs
    return found


@pytest.fixture(scope="module")
def toolchain() -> Toolchain:
    return ensure(TOOLS, hermetic=True)


@pytest.fixture(scope="module")
def languages() -> Path:
    """Folder of the engine's programs for YAML and TypeScript."""
    return ensure(LANGUAGES, hermetic=True).path(LANGUAGES[0]).parent


def assert_is_the_programs(planned: list[dict[str, Any]], stack: str, folder: Path, toolchain: Toolchain) -> None:
    """Assert that a plan is that of the Python program for the component's own inputs."""
    own = engine(stack, component(planned), folder, toolchain)
    done = own(folder / "project", "stack", "init", stack, "--no-select")
    assert done.returncode == 0, done.stderr
    expected = by_urn(own.planned(PROJECT_ROOT))
    found = by_urn(planned)
    assert found.keys() == expected.keys()
    assert {urn for urn, each in found.items() if each != expected[urn]} == set()


def test_a_remote_component_plans_what_the_program_does(toolchain: Toolchain, tmp_path: Path) -> None:
    caller = engine("dev", choices("dev"), tmp_path / "engine", toolchain)
    planned = caller.planned(in_python(caller, tmp_path / "program"))
    assert component(planned) == choices("dev")
    assert_is_the_programs(planned, "dev", tmp_path / "own", toolchain)


@pytest.mark.parametrize("stack", ["local", "dev"])
def test_the_example_in_yaml_plans_what_the_program_does(
    toolchain: Toolchain, languages: Path, tmp_path: Path, stack: str
) -> None:
    caller = engine(stack, choices(stack), tmp_path / "engine", toolchain, languages)
    planned = caller.planned(in_yaml(caller, tmp_path / "program"))
    assert component(planned) == choices(stack)
    assert_is_the_programs(planned, stack, tmp_path / "own", toolchain)


def test_the_example_in_typescript_plans_what_the_program_does(
    toolchain: Toolchain, languages: Path, tmp_path: Path
) -> None:
    if not shutil.which("npm"):
        pytest.skip("no Node.js on this machine")
    # The stack file holds no settings: the packs judge what the program passes, as of a development cluster.
    caller = engine("dev", None, tmp_path / "engine", toolchain, languages)
    planned = caller.planned(in_typescript(caller, tmp_path / "program"))
    assert {"vision", "speech"} < component(planned)["pools"].keys()
    assert_is_the_programs(planned, "dev", tmp_path / "own", toolchain)


def test_packs_stop_a_program_whose_settings_break_a_rule(toolchain: Toolchain, tmp_path: Path) -> None:
    caller = engine("dev", choices("dev"), tmp_path / "engine", toolchain)
    program = in_python(caller, tmp_path / "program", "inputs['pools']['workload']['size']['max'] = 400")
    assert "[NG-11] pool 'workload' may scale up to 400 nodes; expected at most 100." in caller.refused(program)


def test_wrong_inputs_get_the_messages_of_a_stack_file(toolchain: Toolchain, tmp_path: Path) -> None:
    caller = engine("dev", choices("dev"), tmp_path / "engine", toolchain)
    wrong = "inputs['pools']['initial']['size']['max'] = 4; inputs['cluster']['region'] = 'eu-wset-1'"
    shown = caller.refused(in_python(caller, tmp_path / "program", wrong))
    inputs = choices("dev")
    inputs["pools"]["initial"]["size"]["max"], inputs["cluster"]["region"] = 4, "eu-wset-1"
    with pytest.raises(ConfigurationError) as caught:
        parse(inputs)
    assert len(caught.value.problems) == 2
    assert [str(problem) in shown for problem in caught.value.problems] == [True, True]


def test_secrets_and_values_of_resources_are_refused(toolchain: Toolchain, tmp_path: Path) -> None:
    caller = engine("local", choices("local"), tmp_path / "engine", toolchain)
    changes = (
        "made = kubernetes.core.v1.ConfigMap('made')\n"
        "inputs['pools']['workload']['labels'] = {'team': pulumi.Output.secret('canary-of-a-secret')}\n"
        "inputs['namespaces'] = {'mlrun': {'coreServices': made.id.apply(bool)}}"
    )
    shown = caller.refused(in_python(caller, tmp_path / "program", changes))
    assert f"pools.workload.labels.team: {SECRET}" in shown
    assert f"namespaces.mlrun.coreServices: {UNKNOWN}" in shown
    assert "canary-of-a-secret" not in shown
