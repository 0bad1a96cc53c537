"""A run that was killed in any of its steps is cleaned up by the command that it offers."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from components.contract.storage import DEFAULT_CLASS
from support import eks
from support.acceptance import FakeProduct, context_of, nodes_of, step, stream
from workbench import stacks
from workbench.acceptance.record import Record
from workbench.acceptance.run import STEPS, begun, clean_up, run
from workbench.acceptance.step import Context, Step
from workbench.report.events import Stream

CONTENT = {
    "kubernetes:scheduling.k8s.io/v1:PriorityClass": ("scheduling.k8s.io/v1", "PriorityClass", {"name": "low"}),
    "kubernetes:storage.k8s.io/v1:StorageClass": (
        "storage.k8s.io/v1",
        "StorageClass",
        {"name": "gp3", "annotations": DEFAULT_CLASS},
    ),
}
VOLUME = {"kind": "PersistentVolume", "metadata": {"name": "volume"}, "spec": {"claimRef": {}}}


def content() -> list[dict[str, Any]]:
    """Return the resources of a state."""
    return [
        {
            "type": type_,
            "custom": True,
            "urn": f"urn:pulumi:s::p::{type_}::{metadata['name']}",
            "inputs": {"apiVersion": version, "kind": kind, "metadata": metadata},
        }
        for type_, (version, kind, metadata) in CONTENT.items()
    ]


class Living(FakeProduct):
    """An `up` creates the objects and gives the cluster the nodes of the copy as it is then."""

    context: Context
    marks = 0

    def up(self) -> Stream:
        super().up()
        self.resources = content()
        others = [each for each in self.api.objects if each["kind"] not in ("Node", "PriorityClass")]
        self.api.objects[:] = [*others, *nodes_of(self.context.config), self.resources[0]["inputs"]]
        before, self.marks = self.marks, self.context.record.seen.get("marks", 0)
        return stream(step("update" if before != self.marks else "same"))


@pytest.fixture
def context(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Context:
    folder = tmp_path / "stacks"
    folder.mkdir()
    monkeypatch.setenv(stacks.FOLDER_VARIABLE, str(folder))
    monkeypatch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path / "data"))
    made = context_of(folder, eks.document())
    product = Living(made.product.api)  # type: ignore[attr-defined]
    product.api.objects[:] = [VOLUME]
    product.context = replace(made, product=product)
    return product.context


@pytest.mark.parametrize("when", ["begun", "done, not recorded"])
@pytest.mark.parametrize("killed", STEPS, ids=lambda each: each.name)
def test_a_run_killed_in_any_step_is_cleaned_up(context: Context, tmp_path: Path, killed: Step, when: str) -> None:
    copied, kept, product = context.copied, tmp_path / "kept", context.product
    assert isinstance(product, Living)

    def kill(inside: Context) -> str:
        if when != "begun":
            killed.run(inside)
        shutil.copytree(copied.folder, kept)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(context, [replace(each, run=kill) if each is killed else each for each in STEPS])
    shutil.rmtree(copied.folder)  # what was killed saves nothing more
    kept.rename(copied.folder)
    again = replace(context, record=begun(copied, stacks.find("dev")))
    calls = len(product.calls)
    assert again.record.state == "running"
    clean_up(again)
    assert again.record.state == "cleaned up"
    assert Record.load(copied.folder) == again.record
    assert sorted(file.name for file in copied.folder.iterdir()) == ["record.json", "record.md"]
    assert product.resources == []
    assert not [each for each in product.api.objects if each["kind"] == "Namespace"]
    has_begun = again.record.is_ours
    assert product.calls[calls:] == (["create", "recover", "destroy", "forget"] if has_begun else [])
    assert has_begun or (killed.name, when) == ("up", "begun")
