"""What a run of the engine reads, and what it leaves behind."""

import json
from datetime import timedelta
from pathlib import Path
from unittest.mock import Mock

import pytest
import yaml

from components.contract.existing.cluster_inventory import INVENTORY_VARIABLE, ClusterInventory
from policies.waivers import today
from support.eks import document
from support.scripted_engine import ScriptedEngine
from support.stack_files import VALID
from workbench import stacks
from workbench.engine import Session, open_session, session
from workbench.engine.backend import StateFiles
from workbench.engine.cloud import cloud_session
from workbench.engine.inputs import CONFIG_FILE
from workbench.existing import Existing
from workbench.stacks import CONFIG_KEY
from workbench.toolchain import Toolchain

LOCAL = yaml.safe_load(VALID)["config"][CONFIG_KEY]
LEAVING = """echo key > "$TMPDIR/kubeconfig123"
echo "$TMPDIR"
"""

WAIVER = """\
waivers:
- rule: NG-11
  stack: mine
  resource: "*"
  reason: load test
  owner: ml-platform
  ticket: OPS-1
  expires: {expires}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(stacks.FOLDER_VARIABLE, str(tmp_path))
    monkeypatch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path / "data"))
    return tmp_path


def engine(folder: Path, script: str) -> Toolchain:
    """Return an engine that runs a script."""
    toolchain = ScriptedEngine(folder).toolchain
    toolchain.pulumi.write_text(f"#!/bin/sh\n{script}\n")
    return toolchain


def said(run: Session, folder: Path) -> str:
    """Run the engine and return what it printed."""
    with (folder / "display").open("wb") as display:
        assert run.run("up", "--yes", display=display) == 0
    return (folder / "display").read_text()


def choose(folder: Path, **choices: object) -> None:
    (folder / "Pulumi.mine.yaml").write_text(json.dumps({"config": {CONFIG_KEY: choices}}))


def test_files_with_credentials_that_plug_ins_leave_are_gone_after_the_run(folder: Path) -> None:
    choose(folder, **document())
    assert not Path(said(cloud_session(stacks.find("mine"), engine(folder, LEAVING)), folder).strip()).exists()


def test_an_edit_of_a_stack_file_or_its_base_is_for_the_next_command(folder: Path) -> None:
    choices = document()
    choose(folder, base="acme", **choices)
    base, toolchain = folder / "Base.acme.yaml", engine(folder, f'cat "${CONFIG_FILE}"')
    base.write_text("schemaVersion: 1\nlayers:\n- settings: { policies: { requiredTags: [team] } }\n")
    begun = cloud_session(stacks.find("mine"), toolchain)
    choose(folder, base="acme", **{**choices, "policyGuard": "off"})
    base.write_text("schemaVersion: 1\nlayers:\n- settings: { policies: { requiredTags: [other] } }\n")
    read, next_ = (yaml.safe_load(said(run, folder)) for run in (begun, cloud_session(stacks.find("mine"), toolchain)))
    assert read["config"][CONFIG_KEY] == {**choices, "policies": {"requiredTags": ["team"]}}
    assert next_["config"][CONFIG_KEY] == {**choices, "policyGuard": "off", "policies": {"requiredTags": ["other"]}}


def test_a_preview_in_another_terminal_does_not_change_what_an_update_of_a_local_stack_reads(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "environment", lambda _: {})
    toolchain, state = engine(folder, f'cat "${CONFIG_FILE}"'), StateFiles("mine").current
    state.parent.mkdir(parents=True)
    state.touch()

    def opened() -> Session:
        return open_session(stacks.find("mine"), toolchain, folder / "kubeconfig")

    choose(folder, **LOCAL)
    kept = Path(opened().environment[CONFIG_FILE])
    with kept.open("a") as file:
        file.write("encryptionsalt: v1:abc\n")
    update = opened()
    choose(folder, **{**LOCAL, "policyGuard": "off"})
    opened()
    read = yaml.safe_load(said(update, folder))
    assert read == {"config": {CONFIG_KEY: LOCAL}, "encryptionsalt": "v1:abc"}
    assert yaml.safe_load(kept.read_text())["config"][CONFIG_KEY]["policyGuard"] == "off"


def test_a_preview_in_another_terminal_does_not_change_the_nodes_that_an_update_reads(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(stacks.FOLDER_VARIABLE)
    stack = stacks.find("existing")
    begun = cloud_session(stack, engine(folder, f'cat "${INVENTORY_VARIABLE}"'))

    def seen(*nodes: str) -> Session:
        inspection = Mock(inventory=ClusterInventory("id", {"initial": nodes}))
        return Existing(stack, Mock(), Mock()).session(begun, inspection)

    update = seen("one")
    seen("one", "two").exported()
    assert json.loads(said(update, folder))["nodes"] == {"initial": ["one"]}


def test_waivers_are_those_of_the_own_checkout_and_of_its_start(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    toolchain = engine(folder, 'cat "$PULUMI_OPTION_POLICY_PACK_CONFIG"')

    def checkout(name: str) -> Session:
        place = folder / name
        (place / "policies").mkdir(parents=True)
        monkeypatch.setenv(stacks.FOLDER_VARIABLE, str(place))
        choose(place, **document())
        if name == "branch":
            waive(place)
        return cloud_session(stacks.find("mine"), toolchain)

    def waive(place: Path) -> None:
        (place / "policies" / "overrides.yaml").write_text(WAIVER.format(expires=today() + timedelta(days=9)))

    main, branch = checkout("main"), checkout("branch")
    exported = [run.exported() for run in (main, branch)]
    assert all(each["PULUMI_FALLBACK_TO_STATE_SECRETS_MANAGER"] == "true" for each in exported), "no new salt"
    names = [each["PULUMI_OPTION_POLICY_PACK_CONFIG"] for each in exported]
    assert [list(json.loads(Path(name).read_text())) for name in names] == [[], ["ng-11-sizes-are-bounded"]]
    waive(folder / "main")
    assert [list(json.loads(said(run, folder))) for run in (main, branch)] == [[], ["ng-11-sizes-are-bounded"]]
    assert main.inputs.overrides.waivers == ()
