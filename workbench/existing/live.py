"""What is in a cluster, read at one moment."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from components.contract.existing.cluster_inventory import SharedKind, SharedObject
from workbench.engine.kubectl import Api
from workbench.existing.objects import LiveObject
from workbench.system.errors import UserError

_READ: Final = ("nodes", "namespaces", "priorityclasses.scheduling.k8s.io", "storageclasses.storage.k8s.io")
_METRICS: Final = "v1beta1.metrics.k8s.io"
_AUTOSCALERS: Final = ("cluster-autoscaler", "karpenter")

_TRIAL: Final = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "igz-clusters-trial", "namespace": "default"},
}


@dataclass(frozen=True)
class Live:
    """A cluster as it is.

    Parameters
    ----------
    nodes
        All of them.
    shared
        Objects of the kinds that are adopted where they agree.
    minor
        Minor version of the API server.
    has_metrics, has_autoscaler
        Whether something serves resource metrics, and whether something calls itself an autoscaler.
    adds_tolerations
        Whether a pod that asks for a device is given the toleration of its taint; None if that could not be tried.
    """

    nodes: tuple[LiveObject, ...]
    shared: Mapping[SharedObject, LiveObject]
    minor: int
    has_metrics: bool
    has_autoscaler: bool
    adds_tolerations: bool | None


def read(api: Api, gpu_resource: str | None) -> Live:
    """Read a cluster; nothing is changed.

    Parameters
    ----------
    api
        The cluster's.
    gpu_resource
        Device with which a pod is tried, without making it; None tries none.

    Raises
    ------
    UserError
        The cluster does not answer, or lets us not read what we must know.
    """
    listed = json.loads(api.run("get", ",".join(_READ), "-o", "json", "--show-managed-fields"))["items"]
    objects = [LiveObject(item) for item in listed]
    version = json.loads(api.run("get", "--raw", "/version"))
    served = api.run("get", f"apiservices.apiregistration.k8s.io/{_METRICS}", "--ignore-not-found", "-o", "name")
    deployments = api.run("get", "deployments.apps", "--all-namespaces", "-o", "name")
    return Live(
        nodes=tuple(each for each in objects if each.kind == "Node"),
        shared=dict(_shared(objects)),
        minor=int("".join(c for c in version["minor"] if c.isdigit())),
        has_metrics=bool(served.strip()),
        has_autoscaler=any(name in deployments for name in _AUTOSCALERS),
        adds_tolerations=_adds_tolerations(api, gpu_resource) if gpu_resource else None,
    )


def _shared(objects: list[LiveObject]) -> Iterator[tuple[SharedObject, LiveObject]]:
    kinds = {kind.value: kind for kind in SharedKind}
    for each in objects:
        if each.kind in kinds:
            yield SharedObject(kinds[each.kind], each.name), each


def _adds_tolerations(api: Api, resource: str) -> bool | None:
    container = {
        "name": "main",
        "image": "example.invalid/none",
        "resources": {"limits": {"cpu": "1m", "memory": "1Mi", resource: "1"}},
    }
    pod: Mapping[str, Any] = {**_TRIAL, "spec": {"containers": [container]}}
    try:
        given = json.loads(api.run("create", "--dry-run=server", "-o", "json", "-f", "-", given=json.dumps(pod)))
    except UserError:
        return None  # a quota or a policy of the namespace refuses it, or we may make no pods
    return any(each.get("key") == resource for each in given["spec"].get("tolerations") or ())


def nodes(api: Api) -> list[LiveObject]:
    """Return all nodes as they are now.

    Raises
    ------
    UserError
        The cluster does not answer.
    """
    return [LiveObject(item) for item in json.loads(api.run("get", "nodes", "-o", "json"))["items"]]
