import json
from collections.abc import Callable
from pathlib import Path

import pytest

from infra.config import CONFIG_KEY
from support.acceptance import LOCAL
from workbench import stacks

Folder = Callable[..., Path]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    """Write stack files, and ``fleet.yaml`` if its text is given; return the folder."""
    monkeypatch.setenv(stacks.FOLDER_VARIABLE, str(tmp_path))
    monkeypatch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path / "data"))

    def write(*names: str, fleet: str = "") -> Path:
        for name in names:
            (tmp_path / f"Pulumi.{name}.yaml").write_text(json.dumps({"config": {CONFIG_KEY: LOCAL}}))
        if fleet:
            (tmp_path / "fleet.yaml").write_text(fleet)
        return tmp_path

    return write
