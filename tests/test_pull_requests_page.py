"""docs/pull-requests.md: its commands work as they stand there, or it says that they were never run."""

import json
import re
import shlex
import subprocess
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
import yaml

from emulators.aws.resources import KINDS
from emulators.aws.resources.kinds import DescribeCall
from support.cluster import COMMAND, user_environment
from workbench.system.paths import PROJECT_ROOT

PAGE = PROJECT_ROOT / "docs/pull-requests.md"
TEXT = PAGE.read_text()
PROVIDER = "token.actions.githubusercontent.com"
FOREIGN = re.compile(r"`(?:gh|pulumi|az|aws|kubectl|git push) [^`]+`")
"""A command that needs an account."""
IAM_PREFIXES = {"efs": "elasticfilesystem"}
"""Services whose name in IAM is not botocore's."""


def blocks(language: str) -> list[str]:
    return re.findall(rf"^ *```{language}\n(.*?)^ *```$", TEXT, re.MULTILINE | re.DOTALL)


def commands() -> list[list[str]]:
    lines = [line.strip() for block in blocks("sh") for line in block.splitlines()]
    return [shlex.split(each, comments=True) for line in lines for each in line.split(" && ")]


def test_its_shell_commands_work_in_the_order_in_which_they_stand(tmp_path: Path) -> None:
    environment = {
        **user_environment(),
        "HOME": str(tmp_path),
        "GIT_AUTHOR_NAME": "Somebody",
        "GIT_AUTHOR_EMAIL": "somebody@example.invalid",
        "GIT_COMMITTER_NAME": "Somebody",
        "GIT_COMMITTER_EMAIL": "somebody@example.invalid",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "init.defaultBranch",
        "GIT_CONFIG_VALUE_0": "main",
    }
    folder = PROJECT_ROOT
    for program, *words in commands():
        arguments = [word.replace("~", str(tmp_path)) for word in words]
        if program == "cd":
            folder = Path(arguments[0])
            continue
        if program == "git" and arguments[0] == "commit" and "More workers" in arguments:
            file = folder / "Pulumi.clusters-dev.yaml"
            changed = file.read_text().replace("size: { min: 1, max: 10 }", "size: { min: 1, max: 12 }")
            assert changed != file.read_text()
            file.write_text(changed)
        if program == "make":  # what its targets run is shown in tests/workbench/starter; here that they are offered
            targets = [word for word in arguments if "=" not in word]
            arguments = ["help"]
        command = [COMMAND if program == ".venv/bin/igz-clusters" else program, *arguments]
        run = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        assert run.returncode == 0, f"{program} {words}:\n{run.stdout}{run.stderr}"
        if program == "make":
            assert set(targets) <= set(re.findall(r"^  make (\S+)", run.stdout, re.MULTILINE))


def test_a_command_that_needs_an_account_is_said_to_be_not_run() -> None:
    paragraphs = re.split(r"\n\n|\n(?=\d\. )", TEXT)
    foreign = [paragraph for paragraph in paragraphs if FOREIGN.search(paragraph)]
    assert foreign
    assert [paragraph for paragraph in foreign if "*not run*" not in paragraph.lower()] == []


def test_roles_trust_one_environment_and_readers_may_only_read() -> None:
    trust, reading = (json.loads(block)["Statement"] for block in blocks("json"))
    for condition in (statement["Condition"] for statement in trust):
        assert list(condition) == ["StringEquals"]
        assert {key.partition(":")[2] for key in condition["StringEquals"]} == {"aud", "sub"}
        assert re.search(r":environment:compare-[\w-]+$", condition["StringEquals"][f"{PROVIDER}:sub"])
    actions = [statement["Action"] for statement in reading]
    named = {name for action in actions for name in ([action] if isinstance(action, str) else action)}
    assert [name for name in named if not re.match(r"\w+:(Describe|Get|List|Decrypt$)", name)] == []


def test_readers_may_read_every_type_of_resource_that_a_stack_can_have_on_aws() -> None:
    _, reading = (json.loads(block)["Statement"] for block in blocks("json"))
    [allowed] = (statement["Action"] for statement in reading if statement["Sid"] == "Look")
    looks = [look for kind in KINDS.values() for look in (kind.look, *kind.more.values())]
    calls = [look for look in looks if isinstance(look, DescribeCall)]
    asked = {f"{IAM_PREFIXES.get(call.service, call.service)}:{call.operation}" for call in calls}
    assert {each for each in asked if not any(fnmatchcase(each, pattern) for pattern in allowed)} == set()


def test_the_environments_and_variables_that_it_names_are_those_of_the_workflows() -> None:
    workflows = "\n".join(file.read_text() for file in (PROJECT_ROOT / ".github/workflows").glob("*.yml"))
    for kind in ("compare", "drift", "deploy"):
        assert f"`{kind}-STACK`" in TEXT
        assert re.search(rf"environment: {kind}-\$\{{\{{ (matrix|inputs)\.stack \}}\}}", workflows)
    for name in set(re.findall(r"(?:vars|secrets)\.([A-Z_]+)", workflows)):
        assert f"`{name}`" in TEXT, name
    for seconds in set(re.findall(r"role-duration-seconds: (\d+)", workflows)):
        assert f"session duration of at least {int(seconds) // 3600} hours" in TEXT


@pytest.mark.parametrize("file", sorted((PROJECT_ROOT / ".github/workflows").glob("*.yml")), ids=lambda file: file.stem)
def test_it_tells_what_every_workflow_does(file: Path) -> None:
    [row] = [line for line in TEXT.splitlines() if line.startswith(f"| `{file.stem}` |")]
    targets = set(re.findall(r"make (?:-C base )?([a-z-]+)", yaml.safe_dump(yaml.safe_load(file.read_text()))))
    assert targets <= set(re.findall(r"[a-z-]+", row.rpartition(" | ")[2]))
