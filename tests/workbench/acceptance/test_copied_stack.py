"""The copy that an acceptance run lives in."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from infra.config import CONFIG_KEY
from support import aks, eks, existing
from support.acceptance import LOCAL, context_of
from support.minors import OLDER
from workbench import stacks
from workbench.acceptance.copied_stack import CopiedStack
from workbench.stacks import policy_overrides
from workbench.system.errors import UserError

PROD = {"environment": "prod", "pools.initial.size": {"min": 2, "max": 2}}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    found = tmp_path / "stacks"
    found.mkdir()
    monkeypatch.setenv(stacks.FOLDER_VARIABLE, str(found))
    monkeypatch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path / "data"))
    return found


def copied(folder: Path, choices: dict[str, Any], name: str = "") -> CopiedStack:
    (folder / "Pulumi.dev.yaml").write_text(json.dumps({"config": {CONFIG_KEY: choices}}))
    made = CopiedStack(name or "dev-accept", "dev")
    made.make(stacks.find("dev"))
    return made


def test_stack_and_cluster_have_names_of_their_own_and_the_original_stays(folder: Path) -> None:
    before = eks.document()
    made = copied(folder, before)
    assert made.choices["cluster"]["name"] == "research-accept"
    assert json.loads((folder / "Pulumi.dev.yaml").read_text()) == {"config": {CONFIG_KEY: before}}
    assert [file.name for file in folder.iterdir()] == ["Pulumi.dev.yaml"]
    assert copied(folder, before, "trial").choices["cluster"]["name"] == "trial"


def test_data_pools_are_left_out_because_their_nodes_outlive_a_destroy(folder: Path) -> None:
    context = context_of(folder, eks.document())
    assert context.record.left_out == ("Pool 'data': its nodes are kept on destroy.",)
    assert "data" not in context.config.pools


def test_what_describes_an_older_cluster_is_left_out(folder: Path) -> None:
    older = {"cluster.nodeVersion": OLDER, "cluster.nodeRelease": f"{OLDER}.2-20261105"}
    made = copied(folder, eks.document(older))
    assert not {"nodeVersion", "nodeRelease"} & set(made.choices["cluster"])
    took_over = copied(folder, aks.document({"cluster.createdWithPool": "initial"}))
    assert "createdWithPool" not in took_over.choices["cluster"]


def test_schedules_and_reserved_pools_stay_the_originals(folder: Path) -> None:
    hours = {"from": "08:00", "to": "19:00", "timeZone": "UTC"}
    reserved = {
        "role": "gpu",
        "lifecycle": "reserved",
        "size": {"min": 0, "max": 2},
        "instanceTypes": ["p5.48xlarge"],
        "zone": "b",
        "reservation": {"id": "cr-0a91582543292e10a"},
    }
    by_pool = {"pools.data": None, "pools.workload.officeHours": hours, "pools.train": reserved}
    context = context_of(folder, eks.document(by_pool))
    assert context.record.left_out == (
        "pools.workload.officeHours: they could resize the pool in the middle of a run.",
        "Pool 'train': its machines are reserved for the original.",
    )
    assert context.config.pools["workload"].office_hours is None
    assert "train" not in context.config.pools
    context = context_of(folder, eks.document({"pools.data": None, "cluster.officeHours": hours}), "nights")
    assert context.record.left_out == ("cluster.officeHours: they could stop the nodes in the middle of a run.",)
    assert "officeHours" not in context.copied.choices["cluster"]


def test_backups_of_aks_stay_the_originals(folder: Path) -> None:
    context = context_of(folder, aks.document({"pools.data": None, "cluster.backup": {}}))
    assert context.record.left_out == (
        "cluster.backup: Azure keeps the vault of a run for two weeks, and the next run would find it.",
    )
    assert "backup" not in context.copied.choices["cluster"]


def test_a_guard_that_would_refuse_the_run_only_warns_in_the_copy(folder: Path) -> None:
    assert copied(folder, {**LOCAL, "policyGuard": "required"}).choices["policyGuard"] == "warn"
    assert "policyGuard" not in copied(folder, LOCAL, "other").choices


def test_waivers_of_the_stack_are_those_of_the_copy(folder: Path) -> None:
    row = {"rule": "NG-24", "stack": "dev", "resource": "*", "reason": "a trial of spot", "owner": "me"}
    row |= {"expires": "2026-12-31", "ticket": "OPS-1"}
    other = {**row, "stack": "two"}
    (folder / "Pulumi.two.yaml").write_text(json.dumps({"config": {CONFIG_KEY: LOCAL}}))
    (folder / "policies").mkdir()
    (folder / policy_overrides.FILE).write_text(yaml.safe_dump({"waivers": [row, other]}))
    made = copied(folder, LOCAL)
    rows = yaml.safe_load((made.folder / policy_overrides.FILE).read_text())["waivers"]
    assert [each["stack"] for each in rows] == ["dev-accept"]


@pytest.mark.parametrize(
    ("choices", "name", "words"),
    [
        (aks.document({"cluster.name": "a" * 50}), "", "cluster.name"),
        (eks.document({"cluster.name": "a" * 60}), "", "cluster.name"),
        (LOCAL, "Not_a_name", "not a valid stack name"),
        (LOCAL, "dev", "You already have a stack"),
        (eks.document({"environment": "prod"}), "", "is a production stack"),
        (existing.document(PROD), "", "production's own nodes"),
    ],
    ids=[
        "too long for AKS",
        "too long for EKS",
        "no name of a stack",
        "a stack that exists",
        "production",
        "production on an existing cluster",
    ],
)
def test_a_copy_that_cannot_be_is_refused_and_leaves_nothing(
    folder: Path, choices: dict[str, Any], name: str, words: str
) -> None:
    with pytest.raises(UserError, match=words) as refused:
        copied(folder, choices, name)
    assert refused.value.hint
    assert not CopiedStack(name or "dev-accept", "dev").file.exists()


def test_an_edit_changes_the_named_keys_and_keeps_the_engines_salt(folder: Path) -> None:
    made = copied(folder, LOCAL)
    made.file.write_text(made.file.read_text() + "encryptionsalt: v1:abc\n")
    made.edit({"pools.initial.labels.team": "ml", "policyGuard": "off"})
    document = yaml.safe_load(made.file.read_text())
    assert document["encryptionsalt"] == "v1:abc"
    assert made.stack.config.pools["initial"].labels == {"team": "ml"}
    made.edit({"policyGuard": None})
    assert "policyGuard" not in made.choices


def test_a_copy_has_the_settings_of_the_base_and_notices_its_edits(folder: Path) -> None:
    base = folder / "Base.acme.yaml"
    base.write_text("schemaVersion: 1\nlayers: [{ settings: { policies: { requiredTags: [team] } } }]\n")
    made = copied(folder, {**LOCAL, "base": "acme"})
    assert made.choices["policies"] == {"requiredTags": ["team"]}
    assert "base" not in made.choices
    made.require_unedited(stacks.find("dev"))
    base.write_text(base.read_text().replace("team", "owner"))
    said = r"Pulumi\.dev\.yaml or Base\.acme\.yaml was edited .*: config\.igz-clusters:stack\.policies\.requiredTags\."
    with pytest.raises(UserError, match=said):
        made.require_unedited(stacks.find("dev"))
