"""Pulumi's Automation API with our `pulumi`: it is how the Pulumi Kubernetes Operator runs the engine."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from pulumi import automation

from support.aws_emulator import Account, writes
from support.cluster import COMMAND
from workbench.system.paths import PROJECT_ROOT

pytestmark = [pytest.mark.engine, pytest.mark.full]


@dataclass(frozen=True)
class Operated:
    """A stack on the AWS emulator, and the Automation API on it."""

    account: Account
    stack: automation.Stack

    def refused(self, command: str) -> str:
        """Run a command that must fail without a change in AWS; return what it says."""
        last = self.account.last
        with pytest.raises(automation.CommandError) as refused:
            getattr(self.stack, command)()
        assert writes(self.account.aws.calls(last)) == []
        return str(refused.value)


@pytest.fixture(scope="module")
def operated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Operated]:
    folder = tmp_path_factory.mktemp("operated")
    with Account.hollow(folder, "dev") as account:
        program = folder / "operator" / "bin" / "pulumi"
        program.parent.mkdir(parents=True)
        text = (PROJECT_ROOT / "examples" / "container" / "pulumi").read_text()
        (line,) = (line for line in text.splitlines() if line.startswith("exec "))
        program.write_text(f"#!/bin/sh\n{line.replace('/opt/igz-clusters/bin/igz-clusters', str(COMMAND))}\n")
        program.chmod(0o755)
        command = automation.PulumiCommand(str(folder / "operator"))
        place = automation.LocalWorkspace(str(account.stacks), env_vars=account.environment(), pulumi_command=command)
        yield Operated(account, automation.Stack.select("dev", place))


def test_it_previews_updates_and_is_refused_as_up_is(operated: Operated) -> None:
    account, stack = operated.account, operated.stack
    account.edit("dev", namespaces__team={})
    planned = stack.preview()
    assert planned.change_summary["create"] > 10
    assert "aws:eks/cluster:Cluster" not in account.aws.inventory()

    done = stack.up()
    assert done.summary.result == "succeeded"
    assert done.outputs["cluster"].value["name"] == "dev"
    assert account.aws.inventory()["aws:eks/cluster:Cluster"]

    account.edit("dev", namespaces__team=None)  # alone, `up` would warn and go on: policyGuard is `warn` in dev
    text = operated.refused("up")
    assert "'dev' would lose protected resources without an approval. Nothing changed." in text
    assert operated.refused("preview").count("without an approval") == 1

    account.edit("dev", pools__workload__size={"min": 5, "max": 2})
    assert "pools.workload.size" in operated.refused("up")


@pytest.mark.parametrize("command", ["destroy", "refresh"])
def test_it_cannot_destroy_or_refresh(operated: Operated, command: str) -> None:
    assert f"`pulumi {command}` is not supported here" in operated.refused(command)


def test_the_script_of_the_image_is_ours() -> None:
    lines = (PROJECT_ROOT / "examples" / "container" / "Containerfile").read_text().splitlines()
    assert any(line.startswith("COPY") and line.endswith(" pulumi /opt/igz-clusters/operator/pulumi") for line in lines)
