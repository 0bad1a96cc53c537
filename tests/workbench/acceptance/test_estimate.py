"""What an acceptance run announces before it begins: what it creates, for how long, and what that costs."""

from pathlib import Path
from typing import Any

import pytest

from support import aks, eks, existing
from support.acceptance import LOCAL, context_of
from workbench import stacks
from workbench.acceptance.estimate import announcement

FILES = {"purpose": "scratch", "type": "files"}
LUSTRE = {"purpose": "scratch", "type": "lustre", "sizeGib": 2400, "zone": "a"}
SHARED = {"jobs": {"volumes": {"work": {"storage": "corpus", "sizeGib": 200}}}}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(stacks.FOLDER_VARIABLE, str(tmp_path))
    monkeypatch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path / "data"))
    return tmp_path


def announced(folder: Path, choices: dict[str, Any]) -> str:
    return "\n".join(announcement(context_of(folder, choices).copied, "dev"))


def test_a_run_in_a_cloud_names_its_nodes_its_hours_and_the_control_plane(folder: Path) -> None:
    changes = {f"pools.{name}": None for name in ("arm", "spot", "jupyter", "data")}
    said = announced(folder, eks.document(changes))
    assert "a cluster of its own (eks), with network, keys, roles and 4 to 5 nodes." in said
    assert "Cost: about 11 node-hours (g5.12xlarge, m6i.2xlarge, m6i.xlarge), 2.5 hours of a control plane" in said
    assert "GiB" not in said


def test_storage_that_has_a_size_whatever_is_in_it_is_named_with_its_size(folder: Path) -> None:
    said = announced(folder, eks.document({"storage": {"corpus": FILES, "fast": LUSTRE}}))
    assert "charge for that while it exists: Lustre file system 'fast' (2,400 GiB).\n" in said
    said = announced(folder, aks.document({"storage": {"corpus": FILES}, "namespaces": SHARED}))
    assert "charge for that while it exists: volume 'work' of namespace 'jobs' (200 GiB).\n" in said


def test_claims_on_an_existing_cluster_are_named_and_the_cluster_costs_nothing_more(folder: Path) -> None:
    theirs = {"corpus": {**FILES, "storageClass": "nfs"}}
    said = announced(folder, existing.document({"storage": theirs, "namespaces": SHARED}))
    assert "volume 'work' of namespace 'jobs' (200 GiB)" in said
    assert "node-hours" not in said


def test_a_local_run_stores_nothing_and_takes_minutes(folder: Path) -> None:
    said = announced(folder, {**LOCAL, "storage": {"corpus": FILES}, "namespaces": SHARED})
    assert "a control plane on this machine, with simulated nodes." in said
    assert "It takes about 6 minutes." in said
    assert "GiB" not in said
