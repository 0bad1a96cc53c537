from pathlib import Path
from typing import Any

import pytest

from tools import recording
from tools.recording import KUBECONFIG, portable, record
from workbench.system.errors import UserError


def export(**properties: Any) -> dict[str, Any]:
    resource = {"urn": "urn:x", "inputs": {"kubeconfig": "/home/me/kubeconfig", **properties}, "created": "now"}
    return {"version": 3, "deployment": {"manifest": {"time": "now"}, "resources": [resource]}}


def test_a_recording_keeps_what_the_engine_compares_and_no_path_or_time() -> None:
    assert portable(export(size=2), Path("/home/me/kubeconfig")) == {
        "version": 3,
        "deployment": {"resources": [{"urn": "urn:x", "inputs": {"kubeconfig": KUBECONFIG, "size": 2}}]},
    }


def test_a_state_with_a_secret_is_not_recorded() -> None:
    secret = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "ciphertext": "v1:x"}
    with pytest.raises(UserError, match="holds a secret"):
        portable(export(password=secret), Path("/kubeconfig"))


def test_what_a_release_left_is_never_rewritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "RELEASES", tmp_path)
    (tmp_path / "v1.2.3").mkdir()
    with pytest.raises(UserError, match=r"v1\.2\.3 exists: what a release left is never rewritten"):
        record("v1.2.3")
