import base64
import json
import subprocess
from pathlib import Path

import pytest
import yaml

from emulators.aws import credentials


@pytest.fixture(params=["in files", "embedded"])
def aws(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """The program ``aws`` for a kubeconfig that names files, or holds what they would."""
    user = {}
    for key in ("client-certificate", "client-key"):
        (tmp_path / key).write_text(f"the {key}\n")
        in_file = request.param == "in files"
        content = str(tmp_path / key) if in_file else base64.b64encode(f"the {key}\n".encode()).decode()
        user[key if in_file else f"{key}-data"] = content
    (tmp_path / "kubeconfig").write_text(yaml.safe_dump({"users": [{"name": "admin", "user": user}]}))
    credentials.install(tmp_path, tmp_path / "kubeconfig")
    return tmp_path / "aws"


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)


def test_aws_answers_get_token_with_the_user_of_the_kubeconfig(aws: Path) -> None:
    answer = json.loads(run(aws, "eks", "get-token", "--cluster-name", "mlrun-dev", "--region", "eu-west-1").stdout)
    assert (answer["kind"], answer["apiVersion"]) == ("ExecCredential", "client.authentication.k8s.io/v1beta1")
    assert answer["status"] == {
        "clientCertificateData": "the client-certificate\n",
        "clientKeyData": "the client-key\n",
    }
    assert aws.with_name("credential.json").stat().st_mode & 0o077 == 0


def test_aws_does_nothing_else(aws: Path) -> None:
    refused = run(aws, "eks", "delete-cluster", "--name", "mlrun-dev")
    assert (refused.returncode, refused.stdout) == (252, "")
    assert "not 'eks delete-cluster --name mlrun-dev'" in refused.stderr
