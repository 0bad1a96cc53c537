"""The offline provider with the real engine: what it plans from nothing, and what it refuses."""

import json
import os
import shlex
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
import yaml

from support.cluster import COMMAND, eventually
from support.sampled import sampled
from workbench import stacks
from workbench.engine.render import TOOLS, OfflineSession, rendering
from workbench.stacks.policy_overrides import detached
from workbench.system.paths import PROJECT_ROOT, cache_dir
from workbench.toolchain import ensure

pytestmark = pytest.mark.engine


def without_network(*command: str, home: Path) -> subprocess.CompletedProcess[str]:
    """Run a command with nothing but PATH, HOME and the mark of CI, where only loopback exists."""
    inner = shlex.join(["env", "-i", f"PATH={os.defpath}", f"HOME={home}", "CI=true", *command])
    return subprocess.run(
        ["unshare", "--map-root-user", "--net", "sh", "-c", f"ip link set lo up && exec {inner}"],
        cwd=PROJECT_ROOT,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


@pytest.fixture
def bare_home(tmp_path: Path) -> Path:
    """A home without any login: it holds the tools' cache and nothing else."""
    (tmp_path / ".cache").mkdir()
    (tmp_path / ".cache" / "igz-clusters").symlink_to(cache_dir())
    if without_network("true", home=tmp_path).returncode:
        pytest.skip("this kernel lets an ordinary user make no network namespace")
    return tmp_path


@pytest.mark.parametrize("name", sampled(stacks.stack_files(), ["dev", "aks-dev"]))
def test_every_stack_renders_without_account_network_or_cluster(name: str, bare_home: Path) -> None:
    connect = "__import__('socket').create_connection(('192.0.2.1', 443))"
    assert "Network is unreachable" in without_network("python3", "-c", connect, home=bare_home).stderr

    result = without_network(str(COMMAND), "preview", name, "--render", "--json", "--hermetic", home=bare_home)
    assert result.returncode == 0, result.stdout[-3000:] + result.stderr
    steps = json.loads(result.stdout)["steps"]
    assert {step["op"] for step in steps} == {"create"}
    assert "kubernetes:scheduling.k8s.io/v1:PriorityClass" in {step["newState"]["type"] for step in steps}
    said = result.stderr.splitlines()
    assert "not compared with the live stack" in said[0]
    assert "Calls that need a cloud: 0." in said
    assert [path.name for path in bare_home.rglob("*")] == [".cache", "igz-clusters"]


@pytest.mark.full
@pytest.mark.parametrize("seconds", [0, 0.3, 0.6])
@pytest.mark.parametrize("options", [(), ("--verbose",)])
def test_ctrl_c_ends_a_render_and_leaves_nothing_behind(
    tmp_path: Path, seconds: float, options: tuple[str, ...]
) -> None:
    process = subprocess.Popen(
        [COMMAND, "preview", "local", "--render", "--hermetic", *options],
        cwd=PROJECT_ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    # From here on the engine starts Python programs, which take about two seconds to import what they need.
    eventually(lambda: any(child.name().startswith("pulumi-lang") for child in children(process)))
    started = children(process)
    time.sleep(seconds)
    os.killpg(process.pid, signal.SIGINT)
    printed, _ = process.communicate(timeout=600)
    # A Python of the engine that is interrupted before it runs anything of ours prints a traceback, which the engine
    # passes on, with or without --verbose.
    is_before_us = "Fatal Python error: init_import_site" in printed
    assert (process.returncode, "Traceback" in printed) == (130, is_before_us), printed
    _, alive = psutil.wait_procs(started, timeout=600)
    assert alive == []
    assert list(tmp_path.iterdir()) == []


def children(process: subprocess.Popen[str]) -> list[psutil.Process]:
    return psutil.Process(process.pid).children(recursive=True)


@pytest.fixture(scope="module")
def offline() -> Iterator[OfflineSession]:
    with rendering(stacks.find("local"), ensure(TOOLS, hermetic=True)) as session:
        yield session


def pulumi(session: OfflineSession, folder: Path, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the engine on a program of a few lines, in the environment of a render."""
    runtime = {"name": "python", "options": {"toolchain": "pip", "virtualenv": str(PROJECT_ROOT / ".venv")}}
    (folder / "Pulumi.yaml").write_text(yaml.safe_dump({"name": "igz-clusters", "runtime": runtime}))
    (folder / "__main__.py").write_text(f"import pulumi_aws as aws\n{program}")
    return subprocess.run(
        [session.pulumi, *arguments, "--non-interactive", "--color", "never"],
        cwd=folder,
        env={"PATH": os.environ["PATH"], **detached(session.environment)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


NODE_GROUP = """
size = {"min_size": 1, "max_size": 1, "desired_size": 1}
aws.eks.NodeGroup(
    "n", cluster_name="c", node_role_arn="r", subnet_ids=["s"], scaling_config=size, capacity_type="CHEAP"
)
"""
PREVIEW, UP = ("preview",), ("up", "--yes", "--skip-preview")


@pytest.mark.parametrize(
    ("program", "command", "message"),
    [
        (NODE_GROUP, PREVIEW, "must be one of ON_DEMAND, SPOT, CAPACITY_BLOCK, given 'CHEAP' (eks:CreateNodegroup)"),
        (
            "aws.s3.Bucket('b')",
            PREVIEW,
            "the offline provider does not know aws:s3/bucket:Bucket: add it to tools/facts/aws_resources",
        ),
        # Every call is refused in tests/workbench/offline/test_plugin.py.
        pytest.param(
            "aws.get_caller_identity()",
            PREVIEW,
            "the offline provider 'aws' only plans and cannot call aws:index/getCallerIdentity:getCallerIdentity",
            marks=pytest.mark.full,
        ),
        pytest.param(
            "aws.ec2.InternetGateway('g')",
            UP,
            "the offline provider 'aws' only plans and cannot create g",
            marks=pytest.mark.full,
        ),
    ],
    ids=["a bad value", "an unknown type", "a data source", "an update"],
)
def test_the_offline_provider_refuses_with_a_reason(
    offline: OfflineSession, tmp_path: Path, program: str, command: tuple[str, ...], message: str
) -> None:
    result = pulumi(offline, tmp_path, program, *command)
    assert result.returncode != 0
    assert message in result.stdout + result.stderr


def test_a_call_that_the_program_swallows_is_counted_all_the_same(offline: OfflineSession, tmp_path: Path) -> None:
    before = len(offline.summary.refused)
    program = "try:\n    aws.get_region()\nexcept Exception:\n    pass\n"
    assert pulumi(offline, tmp_path, program, *PREVIEW).returncode == 0
    assert offline.summary.refused[before:] == ("invoke aws:index/getRegion:getRegion",)


def test_an_automatic_name_is_planned_as_the_real_plug_in_gives_it(offline: OfflineSession, tmp_path: Path) -> None:
    result = pulumi(offline, tmp_path, "aws.iam.Role('r', assume_role_policy='{}')", *PREVIEW, "--json")
    role = json.loads(result.stdout)["steps"][-1]["newState"]["inputs"]
    assert role["__defaults"] == ["name"]
    assert role["name"].startswith("r-")
