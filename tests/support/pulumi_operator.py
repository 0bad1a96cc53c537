"""The Pulumi Kubernetes Operator and the programs of its pods, as processes next to a local API server.

Local nodes are simulated and run no containers. ``Workspaces`` runs those of the operator's pods as a kubelet would,
with their arguments and variables; folders of the test take the place of those in the containers.
"""

import base64
import os
import re
import shlex
import socket
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from emulators.core.doors import Door
from support.admission import Manifest
from support.cluster import COMMAND, Cluster
from support.operators import log_in
from workbench.local.ports import LOOPBACK
from workbench.pulumi_operator.model import IMAGE_FOLDER, WRITABLE
from workbench.system.paths import PROJECT_ROOT, cache_dir

SOURCE: Final = "PULUMI_OPERATOR_SOURCE"
"""Variable with a checkout of pulumi-kubernetes-operator."""

NAMESPACE: Final = "pulumi-kubernetes-operator"
ACCOUNT: Final = "controller-manager"
"""Where its own manifests put the operator, and with which rights."""

_SHARE: Final = re.compile(rf"(?<![\w-]){WRITABLE}\b")
_POD: Final = "/api/v1/namespaces/{}/pods?labelSelector=auto.pulumi.com/component%3Dworkspace"


def build(source: Path, folder: Path) -> tuple[Path, Path]:
    """Build the operator and its agent; return their paths."""
    programs = folder / "operator", folder / "agent"
    for program, package in zip(programs, ("./operator/cmd", "./agent"), strict=True):
        environment = {**os.environ, "GOFLAGS": "-mod=readonly -buildvcs=false"}
        subprocess.run(["go", "build", "-o", program, package], cwd=source, env=environment, check=True)
    return programs


def installed(source: Path) -> list[Manifest]:
    """Return the objects of the operator's own installation, without the Deployment, whose place a process takes."""
    text = (source / "deploy" / "quickstart" / "install.yaml").read_text()
    return [each for each in yaml.safe_load_all(text) if each and each["kind"] != "Deployment"]


def free_port() -> int:
    """Return a port of the loopback interface that was free a moment ago."""
    with socket.create_server((LOOPBACK, 0)) as server:
        port: int = server.getsockname()[1]
        return port


class Workspaces:
    """Runs the containers of the operator's pods, one pod at a time, as the operator reaches all at one address.

    Parameters
    ----------
    cluster, namespace
        Whose pods.
    agent
        The operator's agent.
    folder
        Where the pods have their files.
    elsewhere
        Values of variables that take the place of addresses which lead out of this machine.
    """

    def __init__(
        self, cluster: Cluster, namespace: str, agent: Path, folder: Path, elsewhere: Mapping[str, str]
    ) -> None:
        self._cluster, self._namespace, self._agent = cluster, namespace, agent
        self._folder, self._elsewhere = folder, elsewhere
        self._started = dict[str, Path]()
        self._current: tuple[str, subprocess.Popen[bytes]] | None = None
        self._port = free_port()
        # A simulated pod is ready before its programs run: until then those of the pod before it must not be reached.
        self._door = Door((LOOPBACK, self._port), lambda: bool(self._current and self._current[0] in self._running()))

    @property
    def address(self) -> str:
        """Where the operator reaches the pod that runs."""
        return f"{LOOPBACK}:{self._door.port}"

    def step(self) -> None:
        """Start what is not started, and end what is gone."""
        running = self._running()
        if self._current and self._current[0] not in running:
            self.stop()
        waiting = [uid for uid in running if uid not in self._started]
        if waiting and not self._current:
            self._current = waiting[0], self._start(running[waiting[0]])

    def close(self) -> None:
        """End the pod that runs, and accept no connections any more."""
        self.stop()
        self._door.close()

    def _running(self) -> dict[str, Manifest]:
        pods = self._cluster.read(_POD.format(self._namespace))["items"]
        return {
            each["metadata"]["uid"]: each
            for each in pods
            if each["status"].get("phase") == "Running" and "deletionTimestamp" not in each["metadata"]
        }

    def stop(self) -> None:
        """End the pod that runs."""
        if self._current:
            self._current[1].terminate()
            self._current[1].wait()
            self._current = None

    @property
    def said(self) -> str:
        """What the programs of all pods printed."""
        return "\n".join((each / "log").read_text() for each in self._started.values())

    def _start(self, pod: Manifest) -> "subprocess.Popen[bytes]":
        uid, namespace = pod["metadata"]["uid"], pod["metadata"]["namespace"]
        place = self._started[uid] = self._folder / uid
        (place / "share").mkdir(parents=True)
        self._write_programs(place)
        spec = pod["spec"]
        log_in(self._cluster, spec["serviceAccountName"], namespace, place / "kubeconfig")
        with (place / "log").open("ab") as log:
            for container in spec["initContainers"]:
                if container["name"] == "bootstrap":  # copies two programs of its image, which are not here
                    continue
                subprocess.run(
                    [self._here(place, each) for each in container["args"]],
                    env={"PATH": os.environ["PATH"], **self._variables(place, pod, container)},
                    stdout=log,
                    stderr=log,
                    check=True,
                    timeout=60,
                )
            (main,) = spec["containers"]
            options = main["command"][main["command"].index("--") + 1 :]
            listening = ["--host", LOOPBACK, "--port", str(self._port), "--kubeconfig", str(place / "kubeconfig")]
            return subprocess.Popen(
                [place / "share" / "agent", *(self._here(place, each) for each in options), *listening],
                cwd=self._here(place, main["workingDir"]),
                env=self._variables(place, pod, main),
                stdout=log,
                stderr=log,
            )

    def _write_programs(self, place: Path) -> None:
        """Put the agent and the image's ``pulumi`` where the pod has them."""
        (place / "share" / "agent").symlink_to(self._agent)
        (place / "image").mkdir()
        script = (PROJECT_ROOT / "examples" / "container" / "pulumi").read_text()
        program = place / "image" / "pulumi"
        program.write_text(script.replace("/opt/igz-clusters/bin/igz-clusters", shlex.quote(str(COMMAND))))
        program.chmod(0o755)

    @staticmethod
    def _here(place: Path, text: str) -> str:
        """Return a text of a pod with this machine's folders."""
        text = text.replace(f"{IMAGE_FOLDER}:", f"{place / 'image'}:")
        text = text.replace("/opt/igz-clusters/bin", str(COMMAND.parent)).replace("/opt/tools", str(cache_dir()))
        return _SHARE.sub(str(place / "share"), text)

    def _variables(self, place: Path, pod: Manifest, container: Mapping[str, Any]) -> dict[str, str]:
        variables = {each["name"]: self._value(pod, container, each) for each in container.get("env", ())}
        return {name: self._elsewhere.get(name, self._here(place, value)) for name, value in variables.items()}

    def _value(self, pod: Manifest, container: Mapping[str, Any], variable: Mapping[str, Any]) -> str:
        match variable.get("valueFrom"):
            case {"secretKeyRef": {"name": name, "key": key}}:
                namespace = pod["metadata"]["namespace"]
                data = self._cluster.read(f"/api/v1/namespaces/{namespace}/secrets/{name}")["data"]
                return base64.b64decode(data[key]).decode()
            case {"fieldRef": {"fieldPath": path}}:
                value: Any = pod
                for part in path.split("."):
                    value = value[part]
                return str(value)
            case {"resourceFieldRef": {"resource": resource}}:
                kind, _, name = resource.partition(".")
                return str(container["resources"][kind][name])
        return str(variable.get("value", ""))
