import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from infra.config import CONFIG_KEY
from support.acceptance import LOCAL
from support.eks import DOCUMENT
from workbench import stacks

Folder = Callable[..., Path]

CHOICES = """\
repository: https://github.com/acme/clusters
image: registry.example.com/igz-clusters:0.2.0
backend: s3://acme-state
secretEnvironment: {PULUMI_CONFIG_PASSPHRASE: {secret: pulumi, key: passphrase}}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    """Write stack files of EKS clusters, ``local`` of a local one, and the operator's files; return the folder."""
    monkeypatch.setenv(stacks.FOLDER_VARIABLE, str(tmp_path))

    def write(*names: str, operator: str = CHOICES, fleet: str = "", **keys: str) -> Path:
        for name in names:
            document = {**keys, "config": {CONFIG_KEY: LOCAL if name == "local" else DOCUMENT}}
            (tmp_path / f"Pulumi.{name}.yaml").write_text(json.dumps(document))
        (tmp_path / "operator.yaml").write_text(operator)
        (tmp_path / "Pulumi.yaml").write_text(yaml.safe_dump({"name": "igz-clusters", "runtime": "python"}))
        if fleet:
            (tmp_path / "fleet.yaml").write_text(fleet)
        return tmp_path

    return write
