"""Whether an API answers, before the engine waits for it."""

import json
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from workbench.engine.reach import silent_api
from workbench.local.pki import ensure_pki

OBJECT = "kubernetes:core/v1:Namespace"


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTPS_PROXY", "https_proxy"):
        monkeypatch.delenv(name, raising=False)


@contextmanager
def listening(tls: ssl.SSLContext | None) -> Iterator[int]:
    """Serve TLS, or close each connection at once; yield the port."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with suppress(OSError):
                while True:
                    caller, _ = server.accept()
                    with suppress(OSError), caller:
                        if tls:
                            tls.wrap_socket(caller, server_side=True).close()

        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)


def deployment(port: int, *types: str) -> dict[str, Any]:
    config = json.dumps({"clusters": [{"cluster": {"server": f"https://127.0.0.1:{port}"}}]})
    provider = {"type": "pulumi:providers:kubernetes", "inputs": {"kubeconfig": config}}
    return {"resources": [provider, *({"type": each} for each in types)]}


def test_an_api_answers_if_a_tls_session_begins(tmp_path: Path) -> None:
    ensure_pki(tmp_path)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(tmp_path / "health.crt", tmp_path / "health.key")
    with listening(tls) as port:
        assert silent_api(deployment(port, OBJECT)) == ""


def test_an_api_behind_a_closed_door_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    with listening(None) as port:
        assert silent_api(deployment(port, OBJECT)).startswith(f"https://127.0.0.1:{port} (")
        assert silent_api(deployment(port)) == "", "nothing in the cluster: the stack file may still open the door"
        monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example.com:3128")
        assert silent_api(deployment(port, OBJECT)) == "", "a proxy knows the way"
    monkeypatch.delenv("HTTPS_PROXY")
    assert "refused" in silent_api(deployment(port, OBJECT))


def test_objects_that_went_with_a_cluster_whose_replacement_is_missing_need_no_api() -> None:
    state = deployment(9, OBJECT)
    state["resources"][1]["pendingReplacement"] = True
    assert silent_api(state) == ""


def test_without_a_cluster_nothing_is_asked() -> None:
    assert silent_api({}) == ""
