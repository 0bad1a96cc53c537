"""Programs in other languages with the real engine: their plans beside the Python program's, and what is refused."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.contract.component_package import CLUSTER_TYPE, PACKAGE
from infra.config import CONFIG_KEY, ConfigurationError, parse
from infra.package.inputs import SECRET, UNKNOWN
from infra.run_facts import KUBECONFIG
from support.programs import EXAMPLES, NAME, Pulumi, in_typescript, in_yaml, languages, project
from workbench.engine.render import TOOLS, choose, offline, passed_on
from workbench.engine.session import policy_packs
from workbench.report.events import RENDERED
from workbench.stacks.policy_overrides import attaching
from workbench.system.paths import PROJECT_ROOT
from workbench.toolchain import Toolchain, ensure

pytestmark = [pytest.mark.engine, pytest.mark.full]

NOT_COMPARED = {"pulumi:pulumi:Stack", f"pulumi:providers:{PACKAGE}", CLUSTER_TYPE}
"""The stack itself, and what only a program in another language has."""

PROGRAM = """\
import json
import pulumi

inputs = json.loads(pulumi.Config("igz-clusters").require("stack"))
{changes}
pulumi.ComponentResource("igz-clusters:index:Cluster", "cluster", inputs, None, True)
"""
"""Declares the component as any SDK does; ``changes`` may pass what no typed SDK lets through."""


def engine(stack: str, choices: Any, folder: Path, toolchain: Toolchain, hosts: Path | None = None) -> Pulumi:
    """Return the engine with offline providers, an empty state and the packs.

    ``choices`` are the settings in the stack file; None for a file without any. ``hosts`` is the folder of further
    languages.
    """
    folder.mkdir()
    environment = offline(stack, choices, toolchain, folder)
    if choices is None:
        choose(Path(environment["PULUMI_OPTION_CONFIG_FILE"]), {RENDERED: "true"})
    packs = attaching(policy_packs(), {}, folder / "packs.json")
    if hosts:
        environment["PATH"] = os.pathsep.join([str(hosts), environment["PATH"]])
    return Pulumi(str(toolchain.pulumi), {**passed_on(), **environment, **packs})


def in_python(pulumi: Pulumi, folder: Path, changes: str = "") -> Path:
    runtime = {"name": "python", "options": {"toolchain": "pip", "virtualenv": str(PROJECT_ROOT / ".venv")}}
    made = project(pulumi, folder, {"runtime": runtime})
    (made / "__main__.py").write_text(PROGRAM.format(changes=changes))
    return made


def choices(stack: str, example: str = "yaml") -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load((EXAMPLES / example / f"Pulumi.{stack}.yaml").read_text())
    inner: dict[str, Any] = document["config"][CONFIG_KEY]
    return inner


def by_urn(planned: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what is compared of each resource by its URN, with the component and the project left out of it.

    The suffix that a provider adds to names is another one in each plan.
    """
    text = json.dumps(planned)
    for each in planned:
        name = each["urn"].rpartition("::")[2]
        for suffixed in {v for v in each.get("inputs", {}).values() if re.fullmatch(f"{name}-[0-9a-f]{{7}}", str(v))}:
            text = text.replace(json.dumps(suffixed), json.dumps(f"{name}-*"))
    planned = json.loads(text)
    return {
        each["urn"].replace(f"{CLUSTER_TYPE}$", "").replace(f"::{NAME}::", f"::{PACKAGE}::"): {
            key: each.get(key) for key in ("type", "inputs", "protect", "retainOnDelete", "deleteBeforeReplace")
        }
        for each in planned
        if each["type"] not in NOT_COMPARED
    }


def component(planned: list[dict[str, Any]]) -> dict[str, Any]:
    [inputs] = [each["inputs"] for each in planned if each["type"] == CLUSTER_TYPE]
    found: dict[str, Any] = inputs
    return found


def assert_is_the_programs(planned: list[dict[str, Any]], pulumi: Pulumi, folder: Path, toolchain: Toolchain) -> None:
    """Assert that a plan is that of the Python program for the component's own inputs."""
    stack = pulumi.environment["PULUMI_STACK"]
    own = engine(stack, component(planned), folder, toolchain)
    own.output(folder / "project", "stack", "init", stack, "--no-select")
    own = own._replace(environment={**own.environment, KUBECONFIG: pulumi.environment[KUBECONFIG]})
    expected, found = by_urn(own.planned(PROJECT_ROOT)), by_urn(planned)
    assert found.keys() == expected.keys()
    assert {urn for urn, each in found.items() if each != expected[urn]} == set()


@pytest.fixture(scope="module")
def toolchain() -> Toolchain:
    return ensure(TOOLS, hermetic=True)


def test_a_remote_component_plans_what_the_program_does(toolchain: Toolchain, tmp_path: Path) -> None:
    pulumi = engine("dev", choices("dev"), tmp_path / "engine", toolchain)
    planned = pulumi.planned(in_python(pulumi, tmp_path / "program"))
    assert component(planned) == choices("dev")
    assert_is_the_programs(planned, pulumi, tmp_path / "own", toolchain)


@pytest.mark.parametrize("stack", ["local", "dev"])
def test_the_example_in_yaml_plans_what_the_program_does(toolchain: Toolchain, tmp_path: Path, stack: str) -> None:
    pulumi = engine(stack, choices(stack), tmp_path / "engine", toolchain, languages())
    planned = pulumi.planned(in_yaml(pulumi, tmp_path / "program"))
    assert component(planned) == choices(stack)
    assert_is_the_programs(planned, pulumi, tmp_path / "own", toolchain)


def test_the_example_in_typescript_plans_what_the_program_does(toolchain: Toolchain, tmp_path: Path) -> None:
    # The stack file holds no settings: the packs judge what the program passes, as of a development cluster.
    pulumi = engine("dev", None, tmp_path / "engine", toolchain, languages())
    program = in_typescript(pulumi, tmp_path / "program")
    planned = pulumi.planned(program)
    assert {"vision", "speech"} < component(planned)["pools"].keys()
    assert_is_the_programs(planned, pulumi, tmp_path / "own", toolchain)
    on_this_machine = choices("local", "typescript")
    local = engine("local", on_this_machine, tmp_path / "local", toolchain, languages())
    local.output(program, "stack", "init", "local", "--no-select")
    assert component(local.planned(program)) == on_this_machine


@pytest.mark.parametrize(("environment", "level"), [("dev", "advisory"), ("prod", "mandatory")])
def test_packs_judge_a_program_by_the_settings_of_its_component(
    toolchain: Toolchain, tmp_path: Path, environment: str, level: str
) -> None:
    pulumi = engine("dev", choices("dev"), tmp_path / "engine", toolchain)
    changes = f"inputs['environment'] = '{environment}'; inputs['pools']['workload']['size']['max'] = 400"
    done = pulumi(in_python(pulumi, tmp_path / "program", changes), "preview")
    assert (done.returncode != 0) is (level == "mandatory"), done.stdout[-5000:] + done.stderr
    assert f"[{level}] [severity: medium]  ng-11-sizes-are-bounded" in done.stdout
    assert "[NG-11] pool 'workload' may scale up to 400 nodes; expected at most 100." in done.stdout


def test_wrong_inputs_get_the_messages_of_a_stack_file(toolchain: Toolchain, tmp_path: Path) -> None:
    pulumi = engine("dev", choices("dev"), tmp_path / "engine", toolchain)
    wrong = "inputs['pools']['initial']['size']['max'] = 4; inputs['cluster']['region'] = 'eu-wset-1'"
    shown = pulumi.refused(in_python(pulumi, tmp_path / "program", wrong))
    inputs = choices("dev")
    inputs["pools"]["initial"]["size"]["max"], inputs["cluster"]["region"] = 4, "eu-wset-1"
    with pytest.raises(ConfigurationError) as caught:
        parse(inputs)
    assert [str(problem) in shown for problem in caught.value.problems] == [True, True]


def test_secrets_and_values_of_new_resources_are_refused(toolchain: Toolchain, tmp_path: Path) -> None:
    pulumi = engine("dev", choices("dev"), tmp_path / "engine", toolchain)
    changes = (
        "import pulumi_aws as aws\n"
        "own = aws.Provider('own', region='eu-west-1', allowed_account_ids=['111122223333'])\n"
        "vpc = aws.ec2.Vpc('own', cidr_block='10.20.0.0/16', opts=pulumi.ResourceOptions(provider=own))\n"
        "inputs['cluster']['network'] = {'kind': 'existing', 'cidr': '10.20.0.0/16', 'vpcId': vpc.id}\n"
        "inputs['pools']['workload']['labels'] = {'team': pulumi.Output.secret('canary-of-a-secret')}"
    )
    shown = pulumi.refused(in_python(pulumi, tmp_path / "program", changes))
    assert f"cluster.network.vpcId: {UNKNOWN}" in shown
    assert f"pools.workload.labels.team: {SECRET}" in shown
    assert "canary-of-a-secret" not in shown
