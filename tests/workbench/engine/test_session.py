"""What a run of the engine leaves behind."""

import json
from pathlib import Path

import pytest

from infra.config import CONFIG_KEY
from support.eks import document
from support.scripted_engine import ScriptedEngine
from workbench import stacks
from workbench.engine.cloud import cloud_session

ENGINE = """#!/bin/sh
echo key > "$TMPDIR/kubeconfig123"
echo "$TMPDIR" > "{said}"
"""


def test_files_with_credentials_that_plug_ins_leave_are_gone_after_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(stacks.FOLDER_VARIABLE, str(tmp_path))
    monkeypatch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path / "data"))
    (tmp_path / "Pulumi.mine.yaml").write_text(json.dumps({"config": {CONFIG_KEY: document()}}))
    toolchain = ScriptedEngine(tmp_path).toolchain
    toolchain.pulumi.write_text(ENGINE.format(said=tmp_path / "said"))
    with (tmp_path / "display").open("wb") as display:
        assert cloud_session(stacks.find("mine"), toolchain).run("preview", display=display) == 0
    assert not Path((tmp_path / "said").read_text().strip()).exists()
