"""The present release's `up` over a live cluster that holds what an earlier release left."""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.cluster import Cluster
from tools.recording import KUBECONFIG, RELEASES, STATE
from workbench.stacks import FOLDER_VARIABLE

pytestmark = [pytest.mark.control_plane, pytest.mark.full]

RECORDINGS = sorted(RELEASES.glob(f"*/local*/{STATE}"))
"""Of local stacks: only their clusters can be had."""
LATEST = max(RELEASES.glob(f"*/local/{STATE}"))
OLDEST = min(RELEASES.glob(f"*/local-prod/{STATE}"))
"""Production, with what all later releases changed."""


PARAMS = [
    pytest.param(file, id=f"{release}-{stack}", marks=[] if file in (LATEST, OLDEST) else pytest.mark.proofs)
    for file in RECORDINGS
    for release, stack in [file.parts[-3:-1]]
]


@pytest.fixture(params=PARAMS)
def recording(request: pytest.FixtureRequest) -> Path:
    file: Path = request.param
    return file


@pytest.fixture
def objects(recording: Path) -> list[dict[str, Any]]:
    resources = json.loads(recording.read_text())["deployment"]["resources"]
    return [resource for resource in resources if resource["type"].startswith("kubernetes:")]


@pytest.fixture
def upgraded(
    recording: Path, objects: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Cluster]:
    """Yield a cluster with the release's objects, each under its recorded field manager, and with its state."""
    monkeypatch.setenv(FOLDER_VARIABLE, str(recording.parent))
    cluster = Cluster(tmp_path / "data", recording.parent.name, is_quick=True)
    try:
        exports = cluster.exports()
        for each in objects:
            manager = each["outputs"]["__fieldManager"]
            manifest = json.dumps(each["inputs"])
            cluster.kubectl("apply", "--server-side", f"--field-manager={manager}", "-f", "-", stdin=manifest)
        state = recording.read_text().replace(KUBECONFIG, str(cluster.kubeconfig()))
        command = ["pulumi", "stack", "import", "--non-interactive"]
        subprocess.run(command, input=state, env=os.environ | exports, cwd=tmp_path / "data" / "stacks", text=True,
                       capture_output=True, check=True)  # fmt: skip
        yield cluster
    finally:
        cluster.command("local", "stop", "--all")


def identities(cluster: Cluster, objects: list[dict[str, Any]]) -> dict[str, str]:
    """Return what the API server gives an object once, when it is created."""
    found = {}
    for each in objects:
        kind, metadata = each["inputs"]["kind"], each["inputs"]["metadata"]
        live = cluster.get(kind, metadata["name"], *(["-n", metadata["namespace"]] if "namespace" in metadata else []))
        found[f"{kind} {each['id']}"] = live["metadata"]["uid"]
    return found


def test_up_keeps_every_object_of_the_release_and_is_content_afterwards(
    upgraded: Cluster, objects: list[dict[str, Any]]
) -> None:
    before = identities(upgraded, objects)
    assert len(before) == len(objects)
    plan = upgraded.up()
    assert not re.search("replace|delete", plan), plan
    assert identities(upgraded, objects) == before
    assert re.fullmatch(r"\d+ unchanged", upgraded.up())
