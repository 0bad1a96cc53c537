"""The offline provider with the real engine: what it plans from nothing, and what an edit of a stack comes to."""

import json
import os
import shlex
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from support.cluster import COMMAND
from support.eks_edits import EDITS, batches
from support.pretend import pretend
from workbench import stacks
from workbench.engine.render import OfflineSession, rendering
from workbench.paths import PROJECT_ROOT, cache_dir
from workbench.toolchain import ensure

pytestmark = pytest.mark.engine

SAMPLE = PROJECT_ROOT / "tests" / "engine" / "sample"


@dataclass(frozen=True)
class Sample:
    """The sample program in a project of its own, run in the environment of a render."""

    project: Path
    session: OfflineSession

    def pulumi(self, *arguments: str, edit: str = "none", **variables: str) -> subprocess.CompletedProcess[str]:
        environment = {
            "PATH": os.environ["PATH"],
            **self.session.environment,
            "PYTHONPATH": str(PROJECT_ROOT / "tests"),
            "EDIT": edit,
            **variables,
        }
        return subprocess.run(
            [self.session.pulumi, *arguments, "--non-interactive", "--color", "never"],
            cwd=self.project,
            env=environment,
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )

    def plan(self, edit: str, *options: str) -> list[tuple[str, str]]:
        """Return operation and ``Type::name`` of every step of a preview that does something, in order."""
        result = self.pulumi("preview", "--json", *options, edit=edit)
        assert result.returncode == 0, result.stdout[-3000:] + result.stderr
        steps = json.loads(result.stdout)["steps"]
        return [(step["op"], _short(step["urn"])) for step in steps if step["op"] not in ("same", "read")]


def _short(urn: str) -> str:
    return (
        urn.rpartition("$")[2].rpartition(":")[0].rpartition(":")[0].rpartition(":")[2] + "::" + urn.rpartition(":")[2]
    )


def a_sample(folder: Path, session: OfflineSession) -> Sample:
    runtime = {"name": "python", "options": {"toolchain": "pip", "virtualenv": str(PROJECT_ROOT / ".venv")}}
    definition = {"name": "igz-clusters", "main": str(SAMPLE), "runtime": runtime}
    (folder / "Pulumi.yaml").write_text(yaml.safe_dump(definition))
    return Sample(folder, session)


@pytest.fixture(scope="module")
def offline() -> Iterator[OfflineSession]:
    toolchain = ensure(["pulumi", "pulumi-resource-kubernetes"], hermetic=True)
    with rendering(stacks.find("local"), toolchain) as session:
        yield session


@pytest.fixture(scope="module")
def rendered(offline: OfflineSession, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The engine's digest of a render of the sample, as in a pull request: rules that cannot tell fail."""
    result = a_sample(tmp_path_factory.mktemp("project"), offline).pulumi("preview", "--json", CI="true")
    assert result.returncode == 0, result.stdout[-3000:] + result.stderr
    digest: dict[str, Any] = json.loads(result.stdout)
    return digest


def inputs(digest: dict[str, Any], type_: str, name: str) -> dict[str, Any]:
    return next(
        step["newState"]["inputs"]
        for step in digest["steps"]
        if step["newState"]["type"] == type_ and step["urn"].endswith(f"::{name}")
    )


def test_everything_is_planned_the_objects_inside_the_cluster_too(rendered: dict[str, Any]) -> None:
    types = [step["newState"]["type"] for step in rendered["steps"]]
    assert {step["op"] for step in rendered["steps"]} == {"create"}
    assert types.count("aws:eks/nodeGroup:NodeGroup") == 3
    assert types.count("kubernetes:scheduling.k8s.io/v1:PriorityClass") == 6


def test_a_group_gets_an_automatic_name_as_the_real_plug_in_gives_it(rendered: dict[str, Any]) -> None:
    group = inputs(rendered, "aws:eks/nodeGroup:NodeGroup", "spot")
    assert group["__defaults"] == ["nodeGroupName"]
    assert group["nodeGroupName"].startswith("spot-")


def test_no_call_needed_a_cloud_and_the_models_judged_most_values(
    offline: OfflineSession, rendered: dict[str, Any]
) -> None:
    tally = offline.tally
    assert tally.refused == ()
    assert tally.judged > 100
    assert tally.unmodelled < tally.judged / 10


NODE_GROUP = """
import pulumi_aws as aws
size = {"min_size": 1, "max_size": 1, "desired_size": 1}
aws.eks.NodeGroup(
    "n", cluster_name="c", node_role_arn="r", subnet_ids=["s"], scaling_config=size, capacity_type="CHEAP"
)
"""


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (NODE_GROUP, "must be one of ON_DEMAND, SPOT, CAPACITY_BLOCK, given 'CHEAP' (eks:CreateNodegroup)"),
        (
            "import pulumi_aws as aws\naws.s3.Bucket('b')",
            "the offline provider does not know aws:s3/bucket:Bucket: add it to UPSTREAM in workbench/aws_facts.py",
        ),
        (
            "import pulumi_aws as aws\naws.get_caller_identity()",
            "the offline provider 'aws' only plans, it cannot call aws:index/getCallerIdentity:getCallerIdentity",
        ),
    ],
    ids=["a bad value", "an unknown type", "a data source"],
)
def test_the_offline_provider_refuses_with_a_reason(
    offline: OfflineSession, tmp_path: Path, program: str, message: str
) -> None:
    sample = a_sample(tmp_path, offline)
    project = yaml.safe_load((tmp_path / "Pulumi.yaml").read_text())
    (tmp_path / "Pulumi.yaml").write_text(yaml.safe_dump({**project, "main": "."}))
    (tmp_path / "__main__.py").write_text(program)
    result = sample.pulumi("preview", PULUMI_OPTION_POLICY_PACK="")
    assert result.returncode != 0
    assert message in result.stdout + result.stderr


def test_nothing_can_be_made_offline(offline: OfflineSession, tmp_path: Path) -> None:
    result = a_sample(tmp_path, offline).pulumi("up", "--yes", "--skip-preview", PULUMI_OPTION_POLICY_PACK="")
    assert result.returncode != 0
    assert "only plans, it cannot create" in result.stdout + result.stderr


def without_network(*command: str, home: Path) -> subprocess.CompletedProcess[str]:
    """Run a command with nothing but PATH and HOME, where only loopback exists."""
    inner = shlex.join(["env", "-i", f"PATH={os.defpath}", f"HOME={home}", "CI=true", *command])
    return subprocess.run(
        ["unshare", "--map-root-user", "--net", "sh", "-c", f"ip link set lo up && exec {inner}"],
        cwd=PROJECT_ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.fixture
def bare_home(tmp_path: Path) -> Path:
    """A home in which nobody ever logged in anywhere: it holds the tools' cache and nothing else."""
    (tmp_path / ".cache").mkdir()
    (tmp_path / ".cache" / "igz-clusters").symlink_to(cache_dir())
    if without_network("true", home=tmp_path).returncode:
        pytest.skip("this kernel lets an ordinary user make no network namespace")
    return tmp_path


@pytest.mark.parametrize("stack", stacks.stack_files())
def test_every_stack_renders_without_account_network_or_cluster(stack: str, bare_home: Path) -> None:
    unreachable = without_network(
        "python3", "-c", "__import__('socket').create_connection(('192.0.2.1', 443))", home=bare_home
    )
    assert "Network is unreachable" in unreachable.stderr
    result = without_network(str(COMMAND), "preview", stack, "--render", "--json", "--hermetic", home=bare_home)
    assert result.returncode == 0, result.stdout[-3000:] + result.stderr
    assert json.loads(result.stdout)["changeSummary"].keys() == {"create"}
    assert "not compared with the live stack" in result.stderr.splitlines()[0]
    assert "Calls that need a cloud: 0." in result.stderr.splitlines()
    assert [path.name for path in bare_home.rglob("*")] == [".cache", "igz-clusters"]


def test_ctrl_c_ends_a_render_and_leaves_nothing_behind(tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    process = subprocess.Popen(
        [COMMAND, "preview", "local", "--render", "--hermetic"],
        cwd=PROJECT_ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    assert process.stdout
    while "Loading policy packs" not in process.stdout.readline():
        assert process.poll() is None
    os.killpg(process.pid, signal.SIGINT)
    printed, _ = process.communicate(timeout=60)
    assert process.returncode != 0, printed
    assert "workbench/" not in printed  # no traceback of ours; the program's own may be cut in the middle
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sample]:
    """The sample as it is after an ``up`` that was told to pretend."""
    toolchain = ensure(["pulumi", "pulumi-resource-kubernetes"], hermetic=True)
    with rendering(stacks.find("local"), toolchain) as session:
        pretend(session)
        sample = a_sample(tmp_path_factory.mktemp("project"), session)
        result = sample.pulumi("up", "--yes", "--skip-preview")
        assert result.returncode == 0, result.stdout[-3000:] + result.stderr
        yield sample


@pytest.mark.parametrize("names", batches(), ids="+".join)
def test_an_edit_comes_to_what_the_matrix_says(deployed: Sample, names: list[str]) -> None:
    found = {resource: op for op, resource in deployed.plan("+".join(names))}
    assert found == {resource: op for name in names for resource, op in EDITS[name].verdicts.items()}


@pytest.mark.parametrize("name", [name for name, edit in EDITS.items() if edit.refused])
def test_the_replacement_of_a_cluster_or_a_data_group_is_refused(deployed: Sample, name: str) -> None:
    result = deployed.pulumi("preview", edit=name)
    assert result.returncode != 0
    assert EDITS[name].refused in result.stdout + result.stderr


def test_another_group_is_made_before_the_old_one_goes(deployed: Sample) -> None:
    plan = deployed.plan("instance-types", "--show-replacement-steps")
    steps = [op for op, resource in plan if resource == "NodeGroup::spot"]
    assert steps.index("create-replacement") < steps.index("delete-replaced")


def test_the_initial_group_grows_and_shrinks_again_in_place(deployed: Sample) -> None:
    for edit in ("size-of-the-initial-group", "none"):
        result = deployed.pulumi("up", "--yes", "--skip-preview", edit=edit)
        assert result.returncode == 0, result.stdout + result.stderr
        assert "~ 1 updated" in result.stdout
