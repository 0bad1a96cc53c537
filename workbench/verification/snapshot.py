"""What a running cluster holds, read once. Values of Secrets are never read."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import groupby
from typing import Any, Final

from components.contract.autoscaler import NAME, NAMESPACE, STATUS
from workbench.engine.kubectl import Api
from workbench.engine.live_objects import LiveObject, ObjectKey, key_of
from workbench.system.errors import UserError

_LISTED: Final = (
    "nodes",
    "namespaces",
    "priorityclasses.scheduling.k8s.io",
    "storageclasses.storage.k8s.io",
    "networkpolicies.networking.k8s.io",
    "validatingadmissionpolicybindings.admissionregistration.k8s.io",
)
"""Kinds whose objects are judged even if the stack does not declare them."""

_USER_WORK: Final = ("mlrun/class", "nuclio.io/class=function")
"""Labels of pods that MLRun (``mlrun/common/runtimes``) and Nuclio (``pkg/platform/kube/functionres``) create."""

_UNKNOWN: Final = re.compile(r"no matches for kind|resource mapping not found|doesn't have a resource type")
"""kubectl's answer for a kind that the API server does not serve."""

_ADMISSION: Final = "/apis/admissionregistration.k8s.io/v1"
_JSON: Final = ("-o", "json", "--show-managed-fields")


@dataclass(frozen=True)
class Snapshot:
    """A cluster at one moment.

    Parameters
    ----------
    objects
        Everything that was read.
    mutates
        Whether the API server offers MutatingAdmissionPolicy.
    taken
        When it was read.
    """

    objects: Mapping[ObjectKey, LiveObject]
    mutates: bool = True
    taken: datetime = field(default_factory=lambda: datetime.now(UTC))

    def of(self, kind: str, namespace: str | None = None) -> list[LiveObject]:
        """Return the objects of a kind. Default: of all namespaces."""
        return [
            each
            for (found, place, _), each in self.objects.items()
            if found == kind and (namespace is None or place == namespace)
        ]

    def get(self, kind: str, name: str, namespace: str = "") -> LiveObject | None:
        """Return an object; None if it does not exist."""
        return self.objects.get((kind, namespace, name))


def take(api: Api, declared: Iterable[Mapping[str, Any]], namespaces: Iterable[str]) -> Snapshot:
    """Read a cluster; changes nothing.

    Parameters
    ----------
    api
        Access to the cluster.
    declared
        Manifests of the objects that the stack declares.
    namespaces
        User namespaces of the stack, whose pods and ConfigMaps are read.

    Raises
    ------
    UserError
        The cluster does not answer, or refuses a request.
    """
    admission = json.loads(api.run("get", "--raw", _ADMISSION))
    about = (f"deployments.apps/{NAME}", f"configmaps/{STATUS}")
    items = [
        *_items(api.run("get", ",".join(_LISTED), "--all-namespaces", *_JSON)),
        *_items(api.run("get", *about, "--namespace", NAMESPACE, "--ignore-not-found", *_JSON)),
        *(each for name in namespaces for each in _items(api.run("get", "pods,configmaps", "-n", name, *_JSON))),
        *(each for label in _USER_WORK for each in _items(api.run("get", "pods", "-A", "-l", label, *_JSON))),
        *_named(api, list(declared)),
    ]
    return Snapshot(
        {key_of(each): LiveObject(each) for each in items},
        any(each["name"] == "mutatingadmissionpolicies" for each in admission["resources"]),
    )


def _named(api: Api, manifests: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Yield the live objects of manifests; kubectl refuses a whole request if the server lacks one of the kinds."""
    if not manifests:
        return
    names = [
        {"apiVersion": each["apiVersion"], "kind": each["kind"], "metadata": _identity(each)} for each in manifests
    ]
    request = json.dumps({"apiVersion": "v1", "kind": "List", "items": names})
    try:
        yield from _items(api.run("get", "-f", "-", "--ignore-not-found", *_JSON, stdin=request))
    except UserError as error:
        if not _UNKNOWN.search(error.message):
            raise
        kinds = [list(each) for _, each in groupby(sorted(manifests, key=_kind), key=_kind)]
        if len(kinds) > 1:
            for each in kinds:
                yield from _named(api, each)


def _kind(manifest: Mapping[str, Any]) -> tuple[str, str]:
    return str(manifest["apiVersion"]), str(manifest["kind"])


def _identity(manifest: Mapping[str, Any]) -> dict[str, str]:
    return {key: manifest["metadata"][key] for key in ("name", "namespace") if manifest["metadata"].get(key)}


def _items(answer: str) -> list[dict[str, Any]]:
    """Return the objects of an answer: a list, one object, or nothing."""
    result: dict[str, Any] = json.loads(answer or "{}")
    found: list[dict[str, Any]] = result.get("items", [result] if result else [])
    return found
