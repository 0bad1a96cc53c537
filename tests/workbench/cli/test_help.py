"""Help, version and lists as they are read at 80 columns and in a pipe."""

import subprocess
from importlib.metadata import version
from itertools import pairwise

import pytest
from typer.testing import CliRunner

from policies.registry import RULES
from support.cluster import COMMAND, user_environment
from workbench.cli.app import app
from workbench.cli.policy_catalogue import catalogue

COMMANDS = ([], ["up"], ["preview"], ["destroy"], ["status"], ["env"], ["recover"], ["local"], ["local", "stop"])


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**user_environment(), "COLUMNS": "80"}
    return subprocess.run([COMMAND, *arguments], env=environment, capture_output=True, text=True, check=False)


def help_of(*command: str) -> str:
    return CliRunner(env={"COLUMNS": "80"}).invoke(app, [*command, "--help"]).stdout


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_help_shows_flags_without_a_type_and_wraps_each_paragraph_once(command: list[str]) -> None:
    text = help_of(*command)
    assert "<bool>" not in text
    lines = text.splitlines()
    assert max(map(len, lines)) <= 80
    about = lines[1 : lines.index("Arguments:" if "Arguments:" in lines else "Options:")]
    following = pairwise(about)
    short = [line for line, after in following if line and after and len(line) + len(after.split()[0]) < 60]
    assert short == [], "lines that end early although the paragraph goes on"


def test_every_command_has_a_summary_that_is_not_cut() -> None:
    names = ("backup", "config", "existing", "fleet", "local", "operator", "passport", "policy", "prices", "toolchain")
    for group in ([], *([name] for name in names)):
        _, heading, commands = help_of(*group).partition("Commands:")
        assert heading, group
        assert "..." not in commands, group


def test_the_version_is_the_packages() -> None:
    assert run("--version").stdout == f"igz-clusters {version('igz-clusters')}\n"


def test_a_key_with_several_meanings_is_listed_with_the_kind_of_each() -> None:
    lines = run("config", "explain").stdout.splitlines()
    names = [line.rpartition(" [")[2] for line in lines if line.startswith("  name ")]
    assert names == ["kind: eks]", "kind: aks]"]


def test_the_list_of_rules_is_a_line_each_in_a_pipe() -> None:
    lines = run("policy", "list").stdout.splitlines()
    assert len(lines) == len(catalogue())
    assert {rule.id for rule in RULES} <= {line.split("\t")[0] for line in lines}


def test_a_control_plane_is_only_started_for_a_stack() -> None:
    refused = run("local", "start", "nope")
    assert refused.returncode == 1
    assert "Stack 'nope' not found" in refused.stderr
    assert "Known stacks: " in refused.stderr
    cloud = run("local", "start", "prod")
    assert cloud.returncode == 1
    assert "'prod' is a stack on eks: it has no control plane on this machine." in cloud.stderr
