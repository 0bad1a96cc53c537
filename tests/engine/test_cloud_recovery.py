"""A cloud stack whose run was killed, with the real engine and the AWS double; what is in the cluster is pretended."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
import yaml

from infra.config import CONFIG_KEY
from support.cluster import COMMAND
from support.owners_roles import make_owners_roles, owners_roles
from workbench import stacks
from workbench.clouds.aws.double.client import Double, running
from workbench.clouds.aws.facts import PROVIDER_VERSION
from workbench.clouds.double.faults import KillRule, Moment
from workbench.engine.render import TOOLS, choose, install, offline, passed_on, pretending, project_of
from workbench.paths import PROJECT_ROOT, cache_dir
from workbench.toolchain import ensure

pytestmark = pytest.mark.engine

STACK = "dev"
PATIENCE = 600.0


@dataclass(frozen=True)
class Cloud:
    """The stack of the repository in a backend of its own, and the account that it is in."""

    folder: Path
    double: Double
    environment: dict[str, str]

    def start(self, *command: str | Path) -> subprocess.Popen[str]:
        return subprocess.Popen(
            command,
            cwd=PROJECT_ROOT,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, *command: str | Path) -> str:
        process = self.start(*command)
        printed, _ = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, printed
        return printed

    @property
    def ids(self) -> dict[str, list[str]]:
        """What the state has in AWS, by type."""
        found: dict[str, list[str]] = {}
        for each in json.loads(self.run("pulumi", "stack", "export"))["deployment"]["resources"]:
            if each["type"].startswith("aws:"):
                found.setdefault(each["type"], []).append(each["id"])
        return {type_: sorted(ids) for type_, ids in sorted(found.items())}


@pytest.fixture
def cloud(tmp_path: Path) -> Iterator[Cloud]:
    document = yaml.safe_load(stacks.find(STACK).file.read_text())["config"][CONFIG_KEY]
    toolchain = ensure(TOOLS, hermetic=True)
    offline_ = offline(STACK, document, toolchain, tmp_path)
    environment = {**passed_on(), **pretending(offline_)}
    python = (sys.executable, "-P", "-m", "workbench.clouds.aws.double", "plugin")
    install(Path(environment["PULUMI_HOME"]), "aws", PROVIDER_VERSION, *python)
    project = project_of(tmp_path)
    choose(project / f"Pulumi.{STACK}.yaml", {CONFIG_KEY: document})
    with running() as double:
        environment |= {
            **double.environment,
            "IGZ_CLUSTERS_STACKS": str(project),
            "IGZ_CLUSTERS_CACHE": str(cache_dir()),
        }
        make_owners_roles(double.api("iam"), *owners_roles(document))
        made = Cloud(tmp_path, double, environment)
        subprocess.run(
            ["pulumi", "stack", "init", STACK, "--no-select"], cwd=project, env=environment, check=True, timeout=60
        )
        yield made


def settled(cloud: Cloud) -> None:
    """One `up` more must lead to a preview without changes, and AWS must hold what the state says."""
    cloud.run("pulumi", "up", "--yes", "--skip-preview", "--non-interactive")
    cloud.run("pulumi", "preview", "--expect-no-changes", "--non-interactive")
    cloud.run(COMMAND, "recover", STACK)
    inventory = {type_: sorted(ids) for type_, ids in cloud.double.inventory().items() if type_.startswith("aws:")}
    state = cloud.ids
    roles = "aws:iam/role:Role"
    ours = [name for name in inventory[roles] if name.startswith(f"{STACK}-")]
    assert {**inventory, roles: ours} == state


@pytest.mark.parametrize(
    ("operation", "nth"),
    [
        ("eks:CreateNodegroup", 2),
        pytest.param("ec2:CreateVpc", 1, marks=pytest.mark.rehearsal),
        pytest.param("ec2:CreateRoute", 2, marks=pytest.mark.rehearsal),
    ],
)
def test_what_a_killed_run_was_making_is_there_once(cloud: Cloud, operation: str, nth: int) -> None:
    process = cloud.start("pulumi", "up", "--yes", "--skip-preview", "--non-interactive")
    rule = KillRule(operation=operation, first=nth, times=1, pids=(process.pid,), moment=Moment.AFTER)
    cloud.double.set_faults(rule)
    printed, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode < 0, printed
    cloud.double.set_faults()

    refused = cloud.start(COMMAND, "up", STACK, "--yes")
    said, _ = refused.communicate(timeout=PATIENCE)
    assert refused.returncode == 1
    assert f"`igz-clusters recover {STACK}`" in said

    recovered = cloud.run(COMMAND, "recover", STACK, "--yes")
    assert "is stale: that process is gone" in recovered
    assert "A run was killed in the middle of" in recovered
    settled(cloud)


def test_what_a_dead_plug_in_made_is_entered_and_not_made_again(cloud: Cloud) -> None:
    process = cloud.start("pulumi", "up", "--yes", "--skip-preview", "--non-interactive")
    while not (plug_ins := _plug_ins(process.pid)):
        assert process.poll() is None
    cloud.double.set_faults(KillRule(operation="eks:CreateCluster", times=1, pids=tuple(plug_ins), moment=Moment.AFTER))
    printed, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode > 0, printed
    cloud.double.set_faults()
    recovered = cloud.run(COMMAND, "recover", STACK, "--yes")
    assert "the state does not know it" in recovered
    assert "Cluster dev-cluster" in recovered
    settled(cloud)


def _plug_ins(engine: int) -> list[int]:
    found = list[int]()
    for child in psutil.Process(engine).children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # the engine starts some that end at once
            if "workbench.clouds.aws.double" in child.cmdline():
                found.append(child.pid)
    return found
