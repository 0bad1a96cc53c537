"""Stacks in a cloud that is a emulator, driven as a user drives them, with a real API server inside."""

import json
import os
import secrets
import shutil
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final, Self

import yaml

from components.contract.labels import LabelKey
from emulators.core.client import IMPORTABLE, Running
from emulators.core.polling import PACE_VARIABLE
from infra.config import CONFIG_KEY
from support.cluster import COMMAND, eventually, user_environment
from support.packless import PACKLESS
from workbench import stacks
from workbench.engine.render import NO_CHECKPOINTS, install
from workbench.offline.aws import facts as aws
from workbench.offline.azure import facts as azure
from workbench.stacks import policy_overrides
from workbench.system.paths import PRIVATE, PROJECT_ROOT, cache_dir
from workbench.toolchain import ensure, without_logs
from workbench.toolchain.recipes import PROVIDER_VERSION as KUBERNETES_VERSION

CONTROL_PLANE: Final = "inside"
"""Name of the local control plane that every cluster of the emulator leads to."""

PACE: Final = "0.003"
"""What never ends is given up after seconds, what is slow to be seen is looked for 20 times all the same."""

CORE_NODE: Final = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {
        "name": "core",
        "labels": {LabelKey.ROLE.value: "initial", "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"},
        "annotations": {
            "kwok.x-k8s.io/node": "fake",
            "igz-clusters.io/capacity": json.dumps({"cpu": "16", "memory": "64Gi", "pods": "110"}),
        },
    },
}
"""A simulated node of the initial pool: the engine waits until the autoscaler's Deployment runs."""


# Without `-P` the folder that the engine starts it in would come first, and may be another checkout.
PYTHON: Final = ("env", *(f"{name}={value}" for name, value in IMPORTABLE.items()), sys.executable, "-P", "-m")


@dataclass(frozen=True)
class CloudAccount(ABC):
    """Stacks in one cloud that is a emulator, with a backend, a home and credentials of their own.

    Parameters
    ----------
    folder
        Everything is below it; stack files in ``stacks``.
    kubeconfig
        Of the API server inside, as its administrator.
    emulator
        The cloud.
    """

    folder: Path
    kubeconfig: Path
    emulator: Running
    is_quick: bool = False
    """Whether no policy pack judges the runs, and an `up` or a `destroy` is not planned first: a third of the time."""

    foreign: ClassVar[tuple[str, ...]]
    """Prefixes of variables that may lead to the real cloud."""
    running: ClassVar[Callable[..., AbstractContextManager[Running]]]
    """Starts the cloud, with the kubeconfig of the API server that its clusters lead to if there is one."""
    log_in: ClassVar[Callable[[Path, Path], None]]
    """Writes the program with which kubectl logs in into a folder."""

    command: ClassVar[Sequence[str | Path]] = (COMMAND,)
    """``igz-clusters``, as it reaches this cloud."""
    module: ClassVar[str] = "workbench.cli"
    """Whose ``main`` the command calls."""

    @classmethod
    @contextmanager
    def opened(cls, folder: Path, *names: str, is_quick: bool = False) -> Iterator[Self]:
        """Start an API server and a emulator, make what an owner has before the first cluster, and end both.

        Parameters
        ----------
        folder
            An empty one.
        names
            Stack files of this checkout, or examples, that are to be used in it.
        is_quick
            As of the class.
        """
        with _control_plane(folder) as kubeconfig, cls.running(kubeconfig=kubeconfig) as emulator:
            made = cls(folder, kubeconfig, emulator, is_quick)
            program = ensure(["pulumi-resource-kubernetes"]).path("pulumi-resource-kubernetes")
            made._equip(names, str(program))
            cls.log_in(folder / "bin", kubeconfig)
            made._make_core_node()
            yield made

    @classmethod
    @contextmanager
    def hollow(cls, folder: Path, *names: str, is_quick: bool = False) -> Iterator[Self]:
        """Do as ``opened`` without an API server: objects in the cluster are simulated."""
        (folder / "data").mkdir(mode=PRIVATE)
        with cls.running() as emulator:
            made = cls(folder, folder / "none", emulator, is_quick)
            made._equip(names, *PYTHON, "workbench.offline.noop_providers", "kubernetes")
            yield made

    @property
    @abstractmethod
    def cloud_environment(self) -> Mapping[str, str]:
        """What a program needs to find this cloud and no other."""

    @abstractmethod
    def adopt(self, choices: dict[str, Any]) -> None:
        """Let a stack file's choices be about the emulator, and make what its owner has before the first cluster."""

    @property
    def stacks(self) -> Path:
        """Folder of the stack files."""
        return self.folder / "stacks"

    @property
    def overrides(self) -> Path:
        """File of waivers and approvals."""
        return self.stacks / policy_overrides.FILE

    def environment(self, stack: str = "") -> dict[str, str]:
        """Return all variables of a user at work; with ``stack`` those that plain ``pulumi`` needs too."""
        pulumi = ensure(["pulumi"]).pulumi
        path = [str(self.folder / "bin"), str(pulumi.parent), os.environ.get("PATH", os.defpath)]
        own = {
            key: value for key, value in user_environment().items() if not key.startswith((*self.foreign, "PULUMI_"))
        }
        # Without an API server this proxy stops every client except the simulated plug-in.
        hollow = {} if self.kubeconfig.exists() else {"HTTPS_PROXY": "http://127.0.0.1:1"}
        plain = {"PULUMI_STACK": stack, "PULUMI_OPTION_CONFIG_FILE": str(self.stack_file(stack))} if stack else {}
        return {
            **own,
            **self.cloud_environment,
            **plain,
            **hollow,
            "PATH": os.pathsep.join(path),
            "HOME": str(self.folder),
            "KUBECONFIG": str(self.folder / "none"),
            PACE_VARIABLE: PACE,
            "IGZ_CLUSTERS_STACKS": str(self.stacks),
            "IGZ_CLUSTERS_DATA": str(self.folder / "data"),
            "IGZ_CLUSTERS_CACHE": str(cache_dir()),
            "PULUMI_HOME": str(without_logs(self.folder / "pulumi")),
            "PULUMI_BACKEND_URL": f"file://{self.folder / 'state'}",
            "PULUMI_CONFIG_PASSPHRASE": (self.folder / "passphrase").read_text(),
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            "PULUMI_OPTION_SKIP_PREVIEW": str(self.is_quick).lower(),
        }

    def stack_file(self, stack: str) -> Path:
        """Return where the choices of a stack are."""
        return self.stacks / f"Pulumi.{stack}.yaml"

    def make(self, name: str, document: Mapping[str, Any]) -> None:
        """Write a stack file, and make the stack in the backend."""
        self.stack_file(name).write_text(yaml.safe_dump(document, sort_keys=False))
        # `stack init` writes next to the project file of its folder, regardless of the option.
        command = [ensure(["pulumi"]).pulumi, "stack", "init", name, "--no-select", "--non-interactive"]
        subprocess.run(command, cwd=self.stacks, env=self.environment(), check=True, capture_output=True)

    def edit(self, stack: str, **choices: Any) -> None:
        """Change choices of a stack file; keys are paths with ``__`` between, None removes one."""
        file = self.stack_file(stack)
        document = yaml.safe_load(file.read_text())
        for path, value in choices.items():
            *parents, last = path.split("__")
            here = document["config"][CONFIG_KEY]
            for key in parents:
                here = here.setdefault(key, {})
            here.pop(last, None)
            if value is not None:
                here[last] = value
        file.write_text(yaml.safe_dump(document, sort_keys=False))

    @property
    def _program(self) -> Sequence[str | Path]:
        return (*PACKLESS, self.module) if self.is_quick else self.command

    def run(self, *arguments: str, check: bool = True, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run ``igz-clusters`` and return what it printed; with ``check`` a failure fails the test."""
        only_the_end = NO_CHECKPOINTS if self.is_quick else {}
        given = {**self.environment(), **only_the_end, **variables}
        return finished([*self._program, *arguments], given, check=check)

    def destroy(self, stack: str) -> subprocess.CompletedProcess[str]:
        """Destroy a stack that has no API server which could be asked what users made."""
        return self.run("destroy", stack, "--hermetic", "--yes", PULUMI_K8S_DELETE_UNREACHABLE="true")

    def start(self, *arguments: str, **variables: str) -> subprocess.Popen[str]:
        """Start ``igz-clusters`` and leave it running; standard error goes where standard output goes."""
        return subprocess.Popen(
            [*self._program, *arguments],
            cwd=PROJECT_ROOT,
            env={**self.environment(), **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            process_group=0,
        )

    def plain(self, stack: str, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run plain ``pulumi``, without policy packs."""
        command = [ensure(["pulumi"]).pulumi, *arguments, "--non-interactive"]
        return finished(command, self.environment(stack), check=check)

    def state(self, stack: str) -> dict[str, Any]:
        """Return the stack's deployment."""
        exported = self.plain(stack, "stack", "export").stdout
        deployment: dict[str, Any] = json.loads(exported)["deployment"]
        return deployment

    def kubectl(self, *arguments: str, stdin: str | None = None) -> str:
        """Run ``kubectl`` as the administrator of the API server inside and return what it prints."""
        program = ensure(["kubectl"]).path("kubectl")
        run = subprocess.run(
            [program, f"--kubeconfig={self.kubeconfig}", *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert run.returncode == 0, run.stderr
        return run.stdout

    def objects(self, kinds: str = "deployments,namespaces,priorityclasses,storageclasses") -> set[str]:
        """Return kind and name of what is in the API server."""
        items = json.loads(self.kubectl("get", kinds, "-A", "-o", "json"))["items"]
        return {f"{item['kind']} {item['metadata']['name']}" for item in items}

    @property
    def last(self) -> int:
        """Number of the last call; 0 if there was none."""
        return max((call.number for call in self.emulator.calls()), default=0)

    def _equip(self, names: Sequence[str], *kubernetes: str) -> None:
        """Install the plug-ins, that for Kubernetes as the given command, and make the stacks."""
        for each in ("bin", "pulumi", "state", "stacks"):
            (self.folder / each).mkdir(mode=PRIVATE)
        (self.folder / "passphrase").write_text(secrets.token_urlsafe(32))
        home = self.folder / "pulumi"
        install(home, "aws", aws.facts().release, *PYTHON, "emulators.aws", "plugin")
        install(home, "azure-native", azure.facts().release, *PYTHON, "emulators.azure", "plugin")
        install(home, "kubernetes", KUBERNETES_VERSION, *kubernetes)
        shutil.copy(PROJECT_ROOT / "Pulumi.yaml", self.stacks)
        for name in names:
            self._adopt_stack(name)

    def _adopt_stack(self, name: str) -> None:
        """Copy a stack file, let it be about the emulator, and make the stack in the backend."""
        document = yaml.safe_load(stacks.stack_files(PROJECT_ROOT)[name].read_text())
        self.adopt(document["config"][CONFIG_KEY])
        self.make(name, document)

    def _make_core_node(self) -> None:
        """Make a node of the initial pool: without one nothing in the cluster would run."""
        self.kubectl("create", "-f", "-", stdin=json.dumps(CORE_NODE))
        conditions = ("get", "node", "core", "-o", "jsonpath={.status.conditions[*].status}")
        eventually(lambda: "True" in self.kubectl(*conditions))


def finished(
    command: Sequence[str | Path], environment: Mapping[str, str], *, check: bool
) -> subprocess.CompletedProcess[str]:
    run = subprocess.run(
        command,
        cwd=PROJECT_ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    if check:
        assert run.returncode == 0, f"{command}:\n{run.stdout}\n{run.stderr}"
    return run


@contextmanager
def _control_plane(folder: Path) -> Iterator[Path]:
    """Start an API server and yield its kubeconfig; delete it at the end."""
    (folder / "data").mkdir(mode=PRIVATE)
    local = {**user_environment(), "IGZ_CLUSTERS_DATA": str(folder / "data")}
    try:
        finished([COMMAND, "local", "start", CONTROL_PLANE, "--bare"], local, check=True)
        yield folder / "data" / "local" / CONTROL_PLANE / "kubeconfig"
    finally:
        finished([COMMAND, "local", "delete", CONTROL_PLANE, "--yes"], local, check=True)
