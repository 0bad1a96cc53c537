import http.client
import json
import ssl
import stat
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from workbench.local import Instance

pytestmark = [pytest.mark.control_plane, pytest.mark.xdist_group("shared")]


def status_without_certificate(shared: Instance, port: str, path: str) -> int:
    folder = shared.kubeconfig.parent / "pki"
    tls = ssl.create_default_context(cafile=str(folder / ("etcd-ca.crt" if port == "etcd" else "ca.crt")))
    connection = http.client.HTTPSConnection("127.0.0.1", shared.status().ports[port], timeout=600, context=tls)
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    finally:
        connection.close()


@pytest.mark.parametrize("path", ["/api", "/readyz", "/version"])
def test_the_api_server_refuses_who_shows_no_certificate(shared: Instance, path: str) -> None:
    assert status_without_certificate(shared, "kube-apiserver", path) == http.client.UNAUTHORIZED


@pytest.mark.parametrize("port", ["kube-scheduler", "kube-controller-manager"])
def test_scheduler_and_controllers_tell_strangers_no_more_than_their_health(shared: Instance, port: str) -> None:
    assert status_without_certificate(shared, port, "/healthz") == http.client.OK
    assert status_without_certificate(shared, port, "/metrics") == http.client.FORBIDDEN


def test_etcd_refuses_who_shows_no_certificate(shared: Instance) -> None:
    with pytest.raises((ssl.SSLError, ConnectionError)):
        status_without_certificate(shared, "etcd", "/health")


def test_every_process_listens_on_loopback_only(shared: Instance) -> None:
    addresses = {
        connection.laddr.ip
        for pid in shared.status().pids.values()
        for connection in psutil.Process(pid).net_connections()
        if connection.status == psutil.CONN_LISTEN
    }
    assert addresses == {"127.0.0.1"}


def test_secrets_are_encrypted_in_the_data_files(shared: Instance, kubectl: Callable[..., str]) -> None:
    def is_on_disk(marker: str) -> bool:
        folder = shared.kubeconfig.parent / "etcd"
        return any(marker.encode() in path.read_bytes() for path in folder.rglob("*") if path.is_file())

    kubectl(shared, "create", "configmap", "plain", "--from-literal=key=open-marker-4711")
    kubectl(shared, "create", "secret", "generic", "hidden", "--from-literal=key=secret-marker-4711")
    assert is_on_disk("open-marker-4711")
    assert not is_on_disk("secret-marker-4711")


def test_all_that_is_secret_is_for_its_owner_only(shared: Instance) -> None:
    folder: Path = shared.kubeconfig.parent
    assert {stat.S_IMODE(path.stat().st_mode) for path in (folder, folder / "pki", folder / "etcd")} == {0o700}
    private = [*(folder / "pki").iterdir(), shared.kubeconfig, folder / "encryption.yaml"]
    assert {stat.S_IMODE(path.stat().st_mode) for path in private} == {0o600}


def test_the_kubeconfig_holds_no_key(shared: Instance) -> None:
    text = shared.kubeconfig.read_text()
    assert "igz-local-shared" in text
    assert "-data" not in text
    assert "PRIVATE" not in text


@pytest.mark.parametrize(
    ("right", "is_granted"),
    [
        ("kwok patch nodes", True),
        ("kwok get secrets", False),
        ("kwok create pods", False),
        ("cluster-autoscaler create nodes", True),
        ("cluster-autoscaler get secrets", False),
        ("cluster-autoscaler delete pods", False),
    ],
)
def test_simulator_and_autoscaler_have_only_the_rights_of_their_work(
    shared: Instance, kubectl: Callable[..., str], right: str, *, is_granted: bool
) -> None:
    user, verb, resource = right.split()
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {"user": f"igz-clusters:{user}", "resourceAttributes": {"verb": verb, "resource": resource}},
    }
    answer = json.loads(kubectl(shared, "create", "-f", "-", "-o", "json", stdin=json.dumps(review)))
    assert answer["status"]["allowed"] == is_granted
