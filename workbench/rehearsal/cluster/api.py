"""The API server's REST interface over HTTPS, quick enough for 10,000 pods."""

import threading
from collections.abc import Callable, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote
from weakref import WeakSet

from typing_extensions import override

from workbench.rehearsal.cluster.connection import APPLY_PATCH, MERGE_PATCH, PATIENCE, Answer, Request, Server
from workbench.rehearsal.cluster.simulated import Api, ApiError
from workbench.rehearsal.cluster.watches import Watch

OWNER: Final = "igz-clusters-rehearsal"
"""Field manager of everything that a rehearsal applies."""

_SUBRESOURCES: Final = {"Eviction": "eviction", "Binding": "binding"}
"""Kinds that are created below the pod of the same name."""


class KubeApi(Api):
    """The API server of a kubeconfig.

    Parameters
    ----------
    kubeconfig
        The administrator's kubeconfig.
    lost
        Returns what a ``LostError`` says: which component has ended, where its log is and what to do. Default: the
        address that does not answer.
    patience
        Seconds for which requests are retried if the server does not answer.
    """

    def __init__(self, kubeconfig: Path, lost: Callable[[], str] = lambda: "", *, patience: float = PATIENCE) -> None:
        self._server = Server(kubeconfig, lost, patience=patience)
        self._kinds: dict[str, dict[str, tuple[str, bool]]] = {}
        """Name of the resource, and whether it has a namespace, by apiVersion and kind."""
        self._watches: WeakSet[Watch] = WeakSet()
        self._lock = threading.Lock()

    @override
    def get(self, path: str) -> Any:
        answer = self._server.ask(Request("GET", path))
        return None if answer.status == HTTPStatus.NOT_FOUND else _good(answer).body

    @override
    def create(self, manifest: Mapping[str, Any], *, as_user: str = "", as_groups: tuple[str, ...] = ()) -> Any:
        headers = [("Impersonate-User", as_user)] if as_user else []
        headers += [("Impersonate-Group", each) for each in as_groups]
        path = f"{self._collection(manifest)}?fieldManager={OWNER}"
        if below := _SUBRESOURCES.get(str(manifest["kind"])):
            metadata = manifest["metadata"]
            path = f"/api/v1/namespaces/{metadata.get('namespace', 'default')}/pods/{metadata['name']}/{below}"
        return _good(self._server.ask(Request("POST", path, manifest, headers=tuple(headers)))).body

    @override
    def apply(self, manifest: Mapping[str, Any]) -> Any:
        path = f"{self.path_of(manifest)}?fieldManager={OWNER}&force=true"
        return _good(self._server.ask(Request("PATCH", path, manifest, APPLY_PATCH))).body

    @override
    def patch(self, path: str, patch: Mapping[str, Any]) -> Any:
        return _good(self._server.ask(Request("PATCH", path, patch, MERGE_PATCH))).body

    @override
    def delete(self, path: str, *, grace: int | None = None) -> bool:
        options: dict[str, Any] = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"}
        if grace is not None:
            options["gracePeriodSeconds"] = grace
        answer = self._server.ask(Request("DELETE", path, options))
        if answer.status == HTTPStatus.NOT_FOUND:
            return False
        deleted = _good(answer).body
        return bool(deleted["items"]) if "items" in deleted else True

    @override
    def path_of(self, manifest: Mapping[str, Any]) -> str:
        return f"{self._collection(manifest)}/{quote(str(manifest['metadata']['name']), safe='')}"

    @override
    def watch(self, path: str) -> Watch:
        watch = Watch(self._server, path)
        with self._lock:
            self._watches.add(watch)
        return watch

    @override
    def close(self) -> None:
        with self._lock:
            for watch in self._watches:
                watch.close()
        self._server.close()

    def _collection(self, manifest: Mapping[str, Any]) -> str:
        version, kind = str(manifest["apiVersion"]), str(manifest["kind"])
        base = f"/apis/{version}" if "/" in version else f"/api/{version}"
        if kind in _SUBRESOURCES:
            return ""
        known = self._kinds.get(version, {})
        if kind not in known:
            known = self._kinds[version] = self._discovered(base)
        if kind not in known:
            raise ApiError(HTTPStatus.NOT_FOUND, f"the server has no kind {kind} in {version}")
        name, is_namespaced = known[kind]
        scope = f"/namespaces/{manifest['metadata'].get('namespace', 'default')}" if is_namespaced else ""
        return f"{base}{scope}/{name}"

    def _discovered(self, base: str) -> dict[str, tuple[str, bool]]:
        found = self.get(base) or {"resources": []}
        return {
            each["kind"]: (each["name"], each["namespaced"]) for each in found["resources"] if "/" not in each["name"]
        }


def _good(answer: Answer) -> Answer:
    if not answer.is_good:
        raise answer.refusal()
    return answer
