"""Runs of the engine that a test disturbs."""

import json
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from select import select
from typing import Any

import psutil

from support.cluster import HANGS, Cluster, eventually


def lines_of(cluster: Cluster) -> dict[str, int]:
    """Return how many lines each command prints when it is not interrupted; the cluster is empty afterwards."""
    return {each: len(cluster.command(*arguments(each)).stdout.splitlines()) for each in ("up", "destroy")}


def empty(cluster: Cluster) -> None:
    """Destroy what there is."""
    if cluster.state().get("resources"):
        cluster.command(*arguments("destroy"))


def arguments(command: str) -> list[str]:
    return [command, "local", "--hermetic", *(["--yes"] if command == "destroy" else [])]


def engine_of(process: subprocess.Popen[str]) -> list[int]:
    try:
        return [child.pid for child in psutil.Process(process.pid).children() if child.name() == "pulumi"]
    except psutil.NoSuchProcess:
        return []


def kill_before_the_answer(cluster: Cluster, run: subprocess.Popen[str], webhook: socket.socket, resource: str) -> None:
    """Kill a run and its children when the API server has created an object, before they receive its answer.

    Parameters
    ----------
    cluster
        Where the run creates the object.
    run
        The run; it creates the cluster's first object of this type.
    webhook
        From ``silent_webhook``. Closed here: the API server then creates the object without it.
    resource
        The object's type in the API, such as ``limitranges``.
    """
    eventually(lambda: select([webhook], [], [], 0)[0] or run.poll() is not None)
    assert run.poll() is None, run.communicate()
    request, _ = webhook.accept()
    command = psutil.Process(run.pid)
    processes = [command, *command.children(recursive=True)]
    for process in processes:
        process.suspend()  # the API server drops a request whose client is gone
    webhook.close()
    request.close()
    try:
        eventually(lambda: cluster.get(resource, "-A")["items"])
    finally:
        for process in processes:
            process.kill()
    printed, _ = run.communicate(timeout=HANGS)
    assert run.returncode == -signal.SIGKILL, printed


@contextmanager
def silent_webhook(cluster: Cluster, resource: str) -> Iterator[socket.socket]:
    """Let the API server ask a webhook that never answers before it creates objects of a type."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        configuration = _configuration(resource, listener.getsockname()[1])
        cluster.kubectl("create", "-f", "-", stdin=json.dumps(configuration))
        try:
            yield listener
        finally:
            cluster.kubectl("delete", configuration["kind"], configuration["metadata"]["name"])


def _configuration(resource: str, port: int) -> dict[str, Any]:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "silent"},
        "webhooks": [
            {
                "name": "silent.example.com",
                "clientConfig": {"url": f"https://127.0.0.1:{port}"},
                "rules": [
                    {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["CREATE"], "resources": [resource]}
                ],
                "matchConditions": [{"name": "no-dry-run", "expression": "!request.dryRun"}],
                "failurePolicy": "Ignore",
                "timeoutSeconds": 30,  # the most that Kubernetes allows
                "sideEffects": "None",
                "admissionReviewVersions": ["v1"],
            }
        ],
    }
