"""Operators that MLRun CE installs, built from their makers' modules: their manifests, and runs outside the cluster."""

import json
import os
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

import yaml

from support.admission import Manifest
from support.api import Api
from support.cluster import Cluster, eventually
from workbench.toolchain import ensure, store

MODULES: Final = {
    "mpi-operator": "github.com/kubeflow/mpi-operator",
    "workflow-controller": "github.com/argoproj/argo-workflows/v3",
}
"""Published module of each program."""

FOLDERS: Final = {"mpi-operator": "mpi-operator", "workflow-controller": "argo"}
"""Folder under ``toolchain/`` that pins it."""


def manifests(program: str, *paths: str, namespace: str) -> list[Manifest]:
    """Return the objects in YAML files of a program's own module; those in a namespace go into ``namespace``."""
    # The program is built from this module, so that it usually is in the module cache already.
    said = subprocess.check_output(
        ["go", "mod", "download", "-json", MODULES[program]], cwd=store.SOURCES / FOLDERS[program], text=True
    )
    folder = Path(json.loads(said)["Dir"])
    files = [each for path in paths for each in sorted(folder.glob(path)) if each.name != "kustomization.yaml"]
    found = [made for each in files for made in yaml.safe_load_all(each.read_text()) if made]
    for made in found:
        if made["kind"] in {"ServiceAccount", "Role", "RoleBinding"}:
            made["metadata"]["namespace"] = namespace
        for subject in made.get("subjects", ()):
            subject["namespace"] = namespace
    return found


def install(api: Api, objects: Iterable[Manifest]) -> None:
    """Create objects that may be there, and wait for the resources that they define."""
    for made in objects:
        answer = api.create(made)
        assert answer.accepted or answer.status == 409, answer.message
        if made["kind"] == "CustomResourceDefinition":
            names, version = made["spec"]["names"], made["spec"]["versions"][0]["name"]
            path = f"/apis/{made['spec']['group']}/{version}/{names['plural']}"
            eventually(lambda path=path: api.send("GET", path).accepted)


def log_in(cluster: Cluster, account: str, namespace: str, file: Path) -> None:
    """Write a kubeconfig with the rights of a service account of the namespace."""
    config = yaml.safe_load(cluster.kubeconfig().read_text())
    token = cluster.kubectl("create", "token", account, "-n", namespace).stdout.strip()
    config["users"][0]["user"] = {"token": token}
    config["contexts"][0]["context"]["namespace"] = namespace
    file.touch(0o600)
    file.write_text(yaml.safe_dump(config))


@contextmanager
def running(
    cluster: Cluster, program: str | Path, account: str, namespace: str, *arguments: str, **variables: str
) -> Iterator["Operator"]:
    """Run a program, of the toolchain or elsewhere, with the rights of a service account of the namespace; end it."""
    path = program if isinstance(program, Path) else ensure([program]).path(program)
    kubeconfig, log = (cluster.data / f"{path.name}.{suffix}" for suffix in ("kubeconfig", "log"))
    log_in(cluster, account, namespace, kubeconfig)
    environment = {**os.environ, "KUBECONFIG": str(kubeconfig), **variables}
    with ExitStack() as stack:
        process = subprocess.Popen(
            [path, *arguments],
            cwd=cluster.data,
            env=environment,
            stdout=stack.enter_context(log.open("wb")),
            stderr=subprocess.STDOUT,
        )
        stack.callback(process.wait)
        stack.callback(process.terminate)
        yield Operator(Api(cluster.kubeconfig()), process, log)


class Operator:
    """A program at work, and what it makes."""

    def __init__(self, api: Api, process: subprocess.Popen[bytes], log: Path) -> None:
        self._api, self._process, self._log = api, process, log

    def assert_runs(self) -> None:
        """Fail with the end of what the program said if it has ended."""
        assert self._process.poll() is None, self._log.read_text()[-2000:]

    def pods(self, namespace: str, selector: str) -> list[Manifest]:
        """Return pods with labels."""
        self.assert_runs()
        answer = self._api.send("GET", f"/api/v1/namespaces/{namespace}/pods", labelSelector=selector)
        found: list[Manifest] = answer.body["items"]
        return found

    def run(self, namespace: str, selector: str, count: int) -> list[Manifest]:
        """Return ``count`` pods once all of them run; fail if admission refused one."""

        def look() -> list[Manifest]:
            refused = [line for line in self._log.read_text().splitlines() if "denied request" in line]
            assert not refused, refused[0]
            found = self.pods(namespace, selector)
            return found if [each["status"]["phase"] for each in found] == ["Running"] * count else []

        return eventually(look)

    def end(self, pod: Mapping[str, Any]) -> None:
        """Say of a pod what a kubelet says when all of its containers ended well."""
        ended = {"terminated": {"exitCode": 0, "reason": "Completed"}}
        containers = [
            {**each, "ready": False, "started": False, "state": ended} for each in pod["status"]["containerStatuses"]
        ]
        path = f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}/status"
        answer = self._api.send("PATCH", path, {"status": {"phase": "Succeeded", "containerStatuses": containers}})
        assert answer.accepted, answer.message
