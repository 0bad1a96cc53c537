"""The operator's objects on a real API server that has its custom resource definition."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from infra.config import CONFIG_KEY
from support.cluster import Cluster, eventually
from support.eks import DOCUMENT
from tools.facts.pulumi_operator import TARGET
from workbench import stacks
from workbench.pulumi_operator import folder
from workbench.pulumi_operator.manifests import WORKSPACES

pytestmark = pytest.mark.control_plane

COMMIT = "0123456789abcdef0123456789abcdef01234567"
CHOICES = """\
repository: https://github.com/acme/clusters
directory: clusters
gitToken: {secret: git, key: token}
image: registry.example.com/igz-clusters:0.2.0
backend: s3://acme-state
serviceAccountAnnotations: {example.com/role: updates}
imagePullSecrets: [registry]
podLabels: {example.com/identity: "true"}
environment: {AWS_REGION: eu-west-1}
secretEnvironment: {PULUMI_CONFIG_PASSPHRASE: {secret: pulumi, key: passphrase}}
preview: true
"""
WAVES = "waves: [{name: canary, stacks: [acme-dev]}, {name: rest, stacks: [acme-prod]}]"

Spec = dict[str, Any]


def without_stack(spec: Spec) -> None:
    del spec["stack"]


def with_unknown_key(spec: Spec) -> None:
    spec["branches"] = ["main"]


def with_text_as_prerequisite(spec: Spec) -> None:
    spec["prerequisites"] = ["acme-dev"]


def with_secret_without_key(spec: Spec) -> None:
    spec["envRefs"]["A"] = {"type": "Secret", "secret": {"name": "pulumi"}}


def with_unknown_key_of_the_workspace(spec: Spec) -> None:
    spec["workspaceTemplate"]["spec"]["imageName"] = "x"


MISTAKES: tuple[tuple[Callable[[Spec], None], str], ...] = (
    (without_stack, "spec.stack: Required value"),
    (with_unknown_key, 'unknown field "spec.branches"'),
    (with_text_as_prerequisite, "spec.prerequisites[0]"),
    (with_secret_without_key, "spec.envRefs.A.secret.key: Required value"),
    (with_unknown_key_of_the_workspace, 'unknown field "spec.workspaceTemplate.spec.imageName"'),
)


def names(cluster: Cluster) -> set[str]:
    return {each["metadata"]["name"] for each in cluster.get("stacks.pulumi.com", "-A")["items"]}


@pytest.fixture
def place(cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield a folder of objects, on a cluster that has the definition of ``Stack`` until the test ends."""
    monkeypatch.setenv(stacks.FOLDER_VARIABLE, str(tmp_path))
    for name in ("acme-dev", "acme-prod"):
        document = {"secretsprovider": "awskms://alias/pulumi", "config": {CONFIG_KEY: DOCUMENT}}
        (tmp_path / f"Pulumi.{name}.yaml").write_text(json.dumps(document))
    (tmp_path / "operator.yaml").write_text(CHOICES)
    (tmp_path / "fleet.yaml").write_text(WAVES)
    (tmp_path / "Pulumi.yaml").write_text("name: igz-clusters\nruntime: python\n")
    operated, out = folder.read(), tmp_path / "out"
    folder.write(out, operated.files(dict.fromkeys(operated.stacks, COMMIT)))
    cluster.kubectl("apply", "--server-side", "--filename", str(TARGET))
    try:
        cluster.kubectl("wait", "--for=condition=Established", "crd/stacks.pulumi.com", "--timeout=60s")
        yield out
    finally:
        cluster.kubectl("delete", "crd/stacks.pulumi.com", "--timeout=60s")
        cluster.kubectl("delete", "--ignore-not-found", "--filename", str(out / f"{WORKSPACES}.yaml"), "--wait=false")


def test_the_api_server_takes_the_objects_and_refuses_changed_ones(cluster: Cluster, place: Path) -> None:
    apply = ("apply", "--server-side", "--validate=strict", "--filename")
    # The API server serves a new kind a moment after it is established.
    eventually(lambda: cluster.kubectl(*apply, str(place), check=False).returncode == 0)
    assert names(cluster) == {"acme-dev", "acme-prod"}
    kept = cluster.get("stacks.pulumi.com", "acme-prod", "-n", "igz-clusters")["spec"]
    (written,) = folder.read().files({"acme-prod": COMMIT})["acme-prod"]
    assert kept == written["spec"], "nothing was pruned"

    for change, refusal in MISTAKES:
        changed = json.loads(json.dumps(written))
        changed["metadata"]["name"] = "changed"
        change(changed["spec"])
        run = cluster.apply(changed, "--validate=strict", check=False)
        assert run.returncode, change.__name__
        assert refusal in run.stderr, (change.__name__, run.stderr)
