import base64
import json
import subprocess
from pathlib import Path

import pytest
import yaml

from emulators.azure import credentials


@pytest.fixture
def kubelogin(tmp_path: Path) -> Path:
    """The program for a kubeconfig that holds an administrator."""
    keys = ("client-certificate", "client-key")
    user = {f"{key}-data": base64.b64encode(f"the {key}\n".encode()).decode() for key in keys}
    (tmp_path / "kubeconfig").write_text(yaml.safe_dump({"users": [{"name": "admin", "user": user}]}))
    credentials.install(tmp_path, tmp_path / "kubeconfig")
    return tmp_path / "kubelogin"


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)


def test_kubelogin_answers_get_token_with_the_user_of_the_kubeconfig(kubelogin: Path) -> None:
    answer = json.loads(run(kubelogin, "get-token", "--login", "azurecli", "--server-id", "s").stdout)
    assert answer["kind"] == "ExecCredential"
    expected = {"clientCertificateData": "the client-certificate\n", "clientKeyData": "the client-key\n"}
    assert answer["status"] == expected
    assert kubelogin.with_name("credential.json").stat().st_mode & 0o077 == 0


def test_kubelogin_does_nothing_else(kubelogin: Path) -> None:
    refused = run(kubelogin, "convert-kubeconfig", "--login", "azurecli")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "knows 'get-token', and not 'convert-kubeconfig --login azurecli'" in refused.stderr
