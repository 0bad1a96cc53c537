"""A real local cluster for tests, driven as a user drives it: by the command line and by kubectl."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from components.contract.labels import LabelKey
from support.api import Api
from support.packless import PACKLESS
from support.terminals import Terminal
from workbench.engine.render import NO_CHECKPOINTS
from workbench.local.layout import Layout
from workbench.local.state import Settings
from workbench.system.paths import APP, PROJECT_ROOT

T = TypeVar("T")
COMMAND = Path(sys.executable).with_name("igz-clusters")


@dataclass(frozen=True)
class Cluster:
    """One local cluster with a data folder of its own."""

    data: Path
    stack: str = "local"
    is_quick: bool = False
    """Whether no policy pack judges the runs, and an `up` or a `destroy` is not planned first: a third of the time."""

    @property
    def environment(self) -> dict[str, str]:
        """All variables of a user at work."""
        skip = {"PULUMI_OPTION_SKIP_PREVIEW": "true"} if self.is_quick else {}
        return {**user_environment(), "IGZ_CLUSTERS_DATA": str(self.data), **skip}

    @property
    def _program(self) -> Sequence[str | Path]:
        return (*PACKLESS, "workbench.cli") if self.is_quick else (COMMAND,)

    def command(self, *arguments: str, check: bool = True, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run ``igz-clusters`` and return what it printed; with ``check`` a failure fails the test."""
        result = subprocess.run(
            [*self._program, *arguments],
            cwd=PROJECT_ROOT,
            env={**self.environment, **(NO_CHECKPOINTS if self.is_quick else {}), **variables},
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        if check:
            assert result.returncode == 0, f"igz-clusters {arguments}:\n{result.stdout}\n{result.stderr}"
        return result

    def start(self, *arguments: str, **variables: str) -> subprocess.Popen[str]:
        """Start ``igz-clusters`` and leave it running; standard error goes where standard output goes."""
        return subprocess.Popen(
            [*self._program, *arguments],
            cwd=PROJECT_ROOT,
            env={**self.environment, **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            process_group=0,  # as shells do it: a signal to the group is not one to the tests
        )

    def start_in_terminal(self, *arguments: str) -> Terminal:
        """Start ``igz-clusters`` in a terminal of its own and leave it running."""
        return Terminal.of([*self._program, *arguments], cwd=PROJECT_ROOT, env=self.environment)

    def up(self) -> str:
        """Run ``up`` and return the engine's own summary of what changed."""
        return changes(self.command("up", self.stack, "--hermetic").stdout)

    def exports(self) -> dict[str, str]:
        """Return the variables with which plain ``pulumi`` works on the stack."""
        lines = self.command("env", self.stack, "--hermetic").stdout.splitlines()
        return dict(line.removeprefix("export ").split("=", 1) for line in lines if line.startswith("export "))

    def kubectl(
        self, *arguments: str, stdin: str | None = None, check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        """Run ``kubectl`` as the cluster's administrator."""
        kubeconfig = self.kubeconfig()
        result = subprocess.run(
            [self.binary("kubectl"), f"--kubeconfig={kubeconfig}", *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        if check:
            assert result.returncode == 0, f"kubectl {arguments}: {result.stderr}"
        return result

    def kubeconfig(self) -> Path:
        """Return the path of the kubeconfig."""
        return next((self.data / "local").glob("*/kubeconfig"))

    def binary(self, name: str) -> Path:
        """Return a program of the toolchain."""
        from workbench.toolchain import ensure  # noqa: PLC0415 the unit tier must not need a toolchain

        return ensure([name]).path(name)

    def get(self, *what: str) -> Any:
        """Return objects as JSON."""
        return json.loads(self.kubectl("get", *what, "-o", "json").stdout)

    def read(self, path: str) -> dict[str, Any]:
        """Return the object at a path of the API without kubectl: tests that wait poll several times a second."""
        answer = Api(self.kubeconfig()).send("GET", path)
        assert answer.accepted, answer.message
        return answer.body

    def apply(self, manifest: dict[str, Any], *options: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Create an object."""
        return self.kubectl("create", "-f", "-", *options, stdin=json.dumps(manifest), check=check)

    def nodes(self, **labels: str) -> dict[str, dict[str, Any]]:
        """Return nodes by name; ``pool=`` and ``role=`` select."""
        wanted = {LabelKey[key.upper()].value: value for key, value in labels.items()}
        items = self.read("/api/v1/nodes")["items"]
        return {n["metadata"]["name"]: n for n in items if wanted.items() <= n["metadata"]["labels"].items()}

    def state(self) -> dict[str, Any]:
        """Return the deployment in the state file."""
        file = self.data / "state" / ".pulumi" / "stacks" / APP / f"{self.stack}.json"
        deployment: dict[str, Any] = json.loads(file.read_text())["checkpoint"]["latest"]
        return deployment

    def pod(self, name: str, namespace: str = "mlrun") -> dict[str, Any]:
        """Return one pod."""
        return self.read(f"/api/v1/namespaces/{namespace}/pods/{name}")

    def pool_of(self, pod_name: str) -> str | None:
        """Return the pool of the node on which a pod was placed, None while it waits."""
        node = self.pod(pod_name)["spec"].get("nodeName")
        pool: str | None = node and self.nodes()[node]["metadata"]["labels"][LabelKey.POOL]
        return pool


def changes(printed: str) -> str:
    """Return the summary of what changed, from what an `up` printed: the engine's own, or ours if it had no work."""
    if found := re.search(r"^nothing changes; (\d+ unchanged)", printed, re.MULTILINE):
        return found[1]
    return printed.partition("Resources:\n")[2].partition("\n\n")[0].strip()


EXPORTED: Final = frozenset({"STACK", "HEAD", "ONLY", "RECORD", "STREAMS", "OUTPUT", "WAVE"})
"""What our Makefiles export, to the tests too if `make` runs them: .github/pull-requests.mk."""


def user_environment() -> dict[str, str]:
    """Return the environment of a user who has set nothing about Python, and whose shell no `make` started."""
    others = ("PYTHON", "MAKE", "MFLAGS")
    return {k: v for k, v in os.environ.items() if k not in EXPORTED and not k.startswith(others)}


def pod(
    name: str,
    *,
    cpu: str = "1",
    memory: str = "1Gi",
    gpus: int = 0,
    namespace: str = "mlrun",
    labels: dict[str, str] | None = None,
    annotations: dict[str, str] | None = None,
    **spec: Any,
) -> dict[str, Any]:
    """Return a pod that asks for guaranteed resources and, but for what ``spec`` says, breaks no rule about itself."""
    amounts = {"cpu": cpu, "memory": memory, **({"nvidia.com/gpu": str(gpus)} if gpus else {})}
    container = {
        "name": "main",
        "image": "example.invalid/image:1",
        "resources": {"requests": amounts, "limits": amounts},
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "labels": labels or {}, "annotations": annotations or {}},
        "spec": {"restartPolicy": "Never", "terminationGracePeriodSeconds": 0, "containers": [container], **spec},
    }


HANGS: Final = 600.0
"""Seconds after which something hangs. No verdict rests on a shorter time: a busy machine is slower than any guess."""


def eventually(look: Callable[[], T]) -> T:
    """Return the first true answer of ``look``; fail with the last answer if there is none for ``HANGS``."""
    deadline = time.monotonic() + HANGS
    while not (answer := look()):
        assert time.monotonic() < deadline, f"not within {HANGS:.0f} s; last answer: {answer!r}"
        time.sleep(0.3)
    return answer


def holds_for(look: Callable[[], bool], *, seconds: float) -> None:
    """Fail if any call of ``look`` within ``seconds`` returns false."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        assert look()
        time.sleep(0.5)


def emulate(instance: Path, minor: str) -> None:
    """Let a control plane that never started offer the APIs and features of an older minor, such as ``1.35``.

    ``instance`` is its folder: ``local/NAME`` below the data folder.
    """
    layout = Layout(instance)
    layout.create()
    Settings(emulated=minor).save(layout)


@contextmanager
def new_cluster(data: Path, *, is_quick: bool = False) -> Iterator[Cluster]:
    """Give a stack in ``data`` that was never up, and take its control plane away at the end."""
    cluster = Cluster(data, is_quick=is_quick)
    try:
        yield cluster
    finally:
        cluster.command("local", "stop", "--all")


@contextmanager
def running_cluster(data: Path, *, is_quick: bool = False) -> Iterator[Cluster]:
    """Bring a stack up in ``data`` and take its control plane away again."""
    with new_cluster(data, is_quick=is_quick) as cluster:
        cluster.up()
        yield cluster
