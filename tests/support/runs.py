"""Runs of the engine that a test disturbs."""

import subprocess

import psutil

from support.cluster import Cluster


def lines_of(cluster: Cluster) -> dict[str, int]:
    """Return how many lines each command prints when nobody disturbs it; the cluster is empty afterwards."""
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
