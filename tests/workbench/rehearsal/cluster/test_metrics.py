"""Pod metrics are served to the front proxy of the API server only."""

import base64
import http.client
import json
import socket
import ssl
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from support.rehearsal_api import FakeApi
from workbench.local.pki import ensure_pki
from workbench.rehearsal.cluster.metrics import MetricsServer, offer
from workbench.rehearsal.cluster.simulated import LostError, PodUsage

PODS = "/apis/metrics.k8s.io/v1beta1/namespaces/mlrun/pods"


@pytest.fixture(scope="module")
def pki(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pki")
    ensure_pki(folder)
    return folder


def usages(namespace: str, selector: Mapping[str, str]) -> Iterator[PodUsage]:
    if namespace in ("", "mlrun") and selector in ({}, {"app": "a"}):
        yield PodUsage("mlrun", "a-0", {"app": "a"}, 250)


@pytest.fixture
def server(pki: Path) -> Iterator[MetricsServer]:
    server = MetricsServer(pki, usages, "250ms")
    yield server
    server.close()


def ask(pki: Path, server: MetricsServer, *paths: str, client: str = "front-proxy-client") -> list[tuple[int, Any]]:
    tls = ssl.create_default_context(cafile=str(pki / "ca.crt"))
    tls.check_hostname = False  # the API server expects the name of the Service, which this test checks apart
    if client:
        tls.load_cert_chain(pki / f"{client}.crt", pki / f"{client}.key")
    connection = http.client.HTTPSConnection("127.0.0.1", server.port, timeout=10, context=tls)
    answers = []
    try:
        for path in paths:
            connection.request("GET", path)
            response = connection.getresponse()
            answers.append((response.status, json.loads(response.read())))
    finally:
        connection.close()
    return answers


def test_the_usage_of_pods_is_listed_as_metrics_server_does(pki: Path, server: MetricsServer) -> None:
    (status, body), (_, all_of_them) = ask(
        pki, server, f"{PODS}?labelSelector=app%3Da", "/apis/metrics.k8s.io/v1beta1/pods"
    )
    assert (status, body["kind"]) == (200, "PodMetricsList")
    (item,) = body["items"]
    assert item["metadata"] == {"name": "a-0", "namespace": "mlrun", "labels": {"app": "a"}}
    assert item["window"] == "250ms"
    assert item["containers"] == [{"name": "main", "usage": {"cpu": "250m"}}]
    assert len(all_of_them["items"]) == 1


def test_other_namespaces_and_labels_have_none_and_other_paths_do_not_exist(pki: Path, server: MetricsServer) -> None:
    answers = ask(
        pki, server, PODS.replace("mlrun", "other"), f"{PODS}?labelSelector=app%3Db", f"{PODS}/a-0", "/openapi/v2",
        f"{PODS}?labelSelector=app+in+(a)",
    )  # fmt: skip
    assert [status for status, _ in answers] == [200, 200, 404, 404, 400]
    assert [answers[index][1]["items"] for index in (0, 1)] == [[], []]


def test_the_api_is_discovered(pki: Path, server: MetricsServer) -> None:
    ((status, body),) = ask(pki, server, "/apis/metrics.k8s.io/v1beta1")
    assert (status, [each["name"] for each in body["resources"]]) == (200, ["pods"])


@pytest.mark.parametrize("client", ["", "admin"])
def test_only_the_front_proxy_is_answered(pki: Path, server: MetricsServer, client: str) -> None:
    with pytest.raises((ssl.SSLError, ConnectionError, http.client.HTTPException)):
        ask(pki, server, PODS, client=client)


def test_its_certificate_names_its_service(pki: Path, server: MetricsServer) -> None:
    api = FakeApi()
    with pytest.raises(LostError, match="does not find the rehearsal's pod metrics: no answer"):
        offer(api, server, pki, seconds=0)
    made = {each["kind"]: each for each in api.objects.values()}
    assert made["Service"]["spec"] == {"type": "ExternalName", "externalName": "127.0.0.1"}
    spec = made["APIService"]["spec"]
    assert spec["service"]["port"] == server.port
    assert base64.b64decode(spec["caBundle"]) == (pki / "ca.crt").read_bytes()
    assert "insecureSkipTLSVerify" not in spec
    name = f"{spec['service']['name']}.{spec['service']['namespace']}.svc"
    tls = ssl.create_default_context(cafile=str(pki / "ca.crt"))
    tls.load_cert_chain(pki / "front-proxy-client.crt", pki / "front-proxy-client.key")
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as plain:
        assert tls.wrap_socket(plain, server_hostname=name).version()
