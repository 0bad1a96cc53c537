"""What a guarded stack lets through: with the real engine, on this machine and on the AWS emulator."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.contract.policy_guard import GUARD_VARIABLE
from emulators.aws.client import running
from policies.waivers import today
from support.cloud_account import PYTHON
from support.cluster import Cluster
from support.eks import CLUSTER, NODE_GROUP
from support.owners_roles import DEPLOYER, make_owners_roles, owners_roles, session
from support.state_files import said
from workbench.engine.render import install
from workbench.offline.aws.facts import facts
from workbench.stacks import CONFIG_KEY, FOLDER_VARIABLE
from workbench.stacks.policy_overrides import detached
from workbench.system.paths import APP, PROJECT_ROOT
from workbench.toolchain import ensure
from workbench.toolchain.recipes import PROVIDER_VERSION as KUBERNETES_VERSION

pytestmark = pytest.mark.engine


@dataclass(frozen=True)
class Guarded:
    """A small copy of a stack of ours, with a folder of its own."""

    folder: Path
    original: str
    variables: dict[str, str]

    @property
    def cluster(self) -> Cluster:
        return Cluster(self.folder / "data", "guarded")

    def write(self, **changes: Any) -> None:
        """Write the stack file, with ``changes`` at its top level; what the engine stored in it stays."""
        file, original = self.folder / "Pulumi.guarded.yaml", PROJECT_ROOT / f"Pulumi.{self.original}.yaml"
        whole = yaml.safe_load(original.read_text())["config"][CONFIG_KEY]
        pools = {name: whole["pools"][name] for name in ("initial", "workload")}
        document = yaml.safe_load(file.read_text()) if file.exists() else {}
        document["config"] = {CONFIG_KEY: {**whole, "policyGuard": "required", "pools": pools, **changes}}
        file.write_text(yaml.safe_dump(document, sort_keys=False))

    def approve(self, *rows: dict[str, str]) -> None:
        """Write the approvals."""
        (self.folder / "policies").mkdir(exist_ok=True)
        (self.folder / "policies" / "overrides.yaml").write_text(yaml.safe_dump({"approvals": rows}))

    def run(self, command: str, *options: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a command on the stack."""
        return self.cluster.command(
            command, "guarded", "--hermetic", *options, check=False, **self.variables, **variables
        )

    def choices(self) -> dict[str, Any]:
        file = yaml.safe_load((self.folder / "Pulumi.guarded.yaml").read_text())
        choices: dict[str, Any] = file["config"][CONFIG_KEY]
        return choices


def guarded(folder: Path, original: str, **variables: str) -> Guarded:
    (folder / "data").mkdir(mode=0o700)
    stack = Guarded(folder, original, {FOLDER_VARIABLE: str(folder), **variables})
    stack.write()
    return stack


def approval(resource: str, operation: str, expires: date) -> dict[str, str]:
    people = {"reason": "another name", "owner": "ml-platform", "ticket": "OPS-1"}
    return {"stack": "guarded", "resource": resource, "operation": operation, "expires": str(expires), **people}


def steps(events: Path) -> list[tuple[str, str]]:
    """Return what the engine did or planned to do, as operation and type."""
    lines = [json.loads(line) for line in events.read_text().splitlines()]
    found = [line["resourcePreEvent"]["metadata"] for line in lines if "resourcePreEvent" in line]
    assert "cancelEvent" in lines[-1]
    return [(step["op"], step["type"]) for step in found]


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    stack = guarded(tmp_path_factory.mktemp("local"), "local")
    try:
        yield stack
    finally:
        stack.cluster.command("local", "stop", "--all")


def test_plain_pulumi_changes_a_guarded_stack_only_with_the_packs_of_env(local: Guarded) -> None:
    lines = local.run("env").stdout.splitlines()
    exports = dict(line.removeprefix("export ").split("=", 1) for line in lines)
    assert exports[GUARD_VARIABLE] == "attached"
    assert Path(exports["PULUMI_OPTION_POLICY_PACK"]) == PROJECT_ROOT / "policies" / "packs" / "all"

    plain = [Path(exports["PATH"].partition(":")[0], "pulumi"), "--non-interactive", "--color=never"]
    for command, code in ((["preview"], 0), (["up", "--yes", "--skip-preview"], 1)):
        result = subprocess.run(
            [*plain, *command], cwd=PROJECT_ROOT, env=detached(exports), capture_output=True, text=True, check=False
        )
        assert result.returncode == code, result.stdout + result.stderr
    assert "Use `igz-clusters up guarded`, or run `eval" in result.stdout
    assert [r["type"] for r in local.cluster.state().get("resources", [])] in ([], ["pulumi:pulumi:Stack"])


@pytest.mark.full
def test_the_initial_group_goes_only_with_an_approval_that_holds(local: Guarded) -> None:
    local.write(policyGuard="off")
    first = local.run("up")
    assert first.returncode == 0, first.stdout + first.stderr
    before = {resource["urn"] for resource in local.cluster.state()["resources"]}

    pools = local.choices()["pools"]
    local.write(pools={"core": pools.pop("initial"), **pools})
    node = "kubernetes:core/v1:Node::initial"
    local.approve(approval(f"{node}-0", "delete", today() - timedelta(days=1)))
    refused = local.run("up", "--events", str(local.folder / "refused.jsonl"))
    assert refused.returncode == 1
    assert "  delete initial group initial-0 (kubernetes:core/v1:Node): " in refused.stderr
    assert "    the approval OPS-1 of ml-platform to delete kubernetes:core/v1:Node::initial-0 expired on " in (
        refused.stderr
    )
    assert "    not approved" in refused.stderr  # the other node
    rows = yaml.safe_load(refused.stderr.partition("have it reviewed:\n")[2])["approvals"]
    assert [(row["resource"], row["operation"]) for row in rows] == [(f"{node}-{i}", "delete") for i in (0, 1)]
    assert {resource["urn"] for resource in local.cluster.state()["resources"]} == before
    assert (local.folder / "refused.jsonl").read_text() == ""

    local.approve(approval(f"{node}-*", "delete", today()))
    done = local.run("up", "--events", str(local.folder / "done.jsonl"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "    the approval OPS-1 of ml-platform to delete " in done.stderr
    assert set(local.cluster.nodes(pool="core")) == {"core-0", "core-1"}
    assert local.cluster.nodes(pool="initial") == {}
    assert steps(local.folder / "done.jsonl").count(("delete", "kubernetes:core/v1:Node")) == 2
    assert (local.folder / "done.jsonl").stat().st_mode & 0o077 == 0

    again = local.run("up")
    assert "unchanged" in again.stdout
    assert " to " not in again.stdout.partition("Resources:")[2].partition("Duration")[0]


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    """A development cluster on EKS, up on the emulator and pretended inside, with a backend of the user's."""
    folder = tmp_path_factory.mktemp("cloud")
    install(folder / "home", "aws", facts().release, *PYTHON, "emulators.aws", "plugin")
    inside = ("workbench.offline.noop_providers", "kubernetes")
    install(folder / "home", "kubernetes", KUBERNETES_VERSION, sys.executable, "-m", *inside)
    with running() as emulator:
        stack = guarded(
            folder,
            "dev",
            **{**emulator.environment, **session(emulator.api("sts"), DEPLOYER)},
            PULUMI_HOME=str(folder / "home"),
            PULUMI_BACKEND_URL=f"file://{folder}",
            PULUMI_CONFIG_PASSPHRASE="not a secret",  # noqa: S106
            PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION="true",
        )
        stack.write(policyGuard="off")
        make_owners_roles(emulator.api("iam"), *owners_roles(stack.choices()))
        shutil.copy(PROJECT_ROOT / "Pulumi.yaml", folder)  # `stack init` writes beside it
        init = [ensure(["pulumi"], hermetic=True).pulumi, "stack", "init", "guarded", "--non-interactive"]
        subprocess.run(init, cwd=folder, env={**os.environ, **stack.variables}, capture_output=True, check=True)
        # Its plan does not matter here.
        command = ("up", "guarded", "--hermetic", "--yes")
        up = stack.cluster.command(*command, check=False, **stack.variables, PULUMI_OPTION_SKIP_PREVIEW="true")
        assert up.returncode == 0, up.stdout + up.stderr
        yield stack


@pytest.mark.full
def test_a_cloud_is_refreshed_before_it_is_compared(cloud: Guarded) -> None:
    assert cloud.run("preview", "--events", str(cloud.folder / "preview.jsonl")).returncode == 0
    planned = steps(cloud.folder / "preview.jsonl")
    assert {op for op, _ in planned} == {"refresh", "same"}
    assert ("refresh", CLUSTER) in planned


@pytest.mark.full
def test_a_cloud_is_not_destroyed_without_approvals(cloud: Guarded) -> None:
    cloud.write()
    refused = cloud.run("destroy", "--yes")
    assert refused.returncode == 1
    assert f"  delete cluster guarded-cluster ({CLUSTER}): the cluster with all that runs on it would be lost" in (
        refused.stderr
    )
    rows = yaml.safe_load(refused.stderr.partition("have it reviewed:\n")[2])["approvals"]
    assert {row["resource"].partition("::")[0] for row in rows} == {
        CLUSTER,
        NODE_GROUP,
        "aws:kms/key:Key",
        "aws:ec2/vpc:Vpc",
        "aws:ec2/subnet:Subnet",
        "kubernetes:core/v1:Namespace",
    }


@pytest.mark.full
def test_a_locked_cloud_is_answered_with_the_way_out(cloud: Guarded) -> None:
    cloud.write(policyGuard="off")
    locks = cloud.folder / ".pulumi" / "locks" / "organization" / APP / "guarded"
    locks.mkdir(parents=True, exist_ok=True)
    (locks / "other.json").write_text(said(1, "elsewhere"))
    # Behind a proxy only the plug-in asks the API, which does not exist here.
    locked = cloud.run("up", "--yes", HTTPS_PROXY="http://127.0.0.1:1")
    (locks / "other.json").unlink()
    assert locked.returncode > 0
    assert "delete the lock file with `pulumi cancel`" in locked.stderr
    assert "Traceback" not in locked.stdout + locked.stderr
