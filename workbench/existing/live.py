"""Reads the live contents of a cluster."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import ip_network
from typing import Any, Final

from components.contract.egress import API_PORTS
from components.contract.existing.cluster_inventory import SharedKind, SharedObject
from workbench.engine.kubectl import Api
from workbench.engine.live_objects import LiveObject
from workbench.system.errors import UserError

_READ: Final = ("nodes", "namespaces", "priorityclasses.scheduling.k8s.io", "storageclasses.storage.k8s.io")
_ADMISSION: Final = "/apis/admissionregistration.k8s.io/v1"
_API_OBJECTS: Final = ("service/kubernetes", "endpointslice.discovery.k8s.io/kubernetes")
_METRICS: Final = "v1beta1.metrics.k8s.io"
_AUTOSCALERS: Final = ("cluster-autoscaler", "karpenter")

_PROBE: Final = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "igz-clusters-probe", "namespace": "default"},
}


@dataclass(frozen=True)
class LiveCluster:
    """Live contents of a cluster.

    Parameters
    ----------
    nodes
        All nodes.
    shared
        Objects of the kinds that a stack adopts if they match.
    minor
        Minor version of the API server.
    has_metrics, has_autoscaler
        Whether resource metrics are served, and whether an autoscaler is installed (by its name).
    adds_tolerations
        Whether admission adds the toleration to a pod that requests a GPU; None if that could not be tested.
    mutates
        Whether MutatingAdmissionPolicy is offered. Not read from the version: a feature gate decides.
    api_server, api_ports
        Ranges and ports of the Service ``kubernetes`` and its endpoints; empty if they could not be read.
    """

    nodes: tuple[LiveObject, ...]
    shared: Mapping[SharedObject, LiveObject]
    minor: int
    has_metrics: bool
    has_autoscaler: bool
    adds_tolerations: bool | None
    mutates: bool = False
    api_server: tuple[str, ...] = ()
    api_ports: tuple[int, ...] = API_PORTS


def read(api: Api, gpu_resource: str | None) -> LiveCluster:
    """Read a cluster; changes nothing.

    Parameters
    ----------
    api
        Access to the cluster.
    gpu_resource
        GPU resource for a dry-run pod that tests admission; None skips the test.

    Raises
    ------
    UserError
        The cluster does not answer, or refuses a request.
    """
    listed = json.loads(api.run("get", ",".join(_READ), "-o", "json", "--show-managed-fields"))["items"]
    objects = [LiveObject(item) for item in listed]
    version = json.loads(api.run("get", "--raw", "/version"))
    admission = json.loads(api.run("get", "--raw", _ADMISSION))
    served = api.run("get", f"apiservices.apiregistration.k8s.io/{_METRICS}", "--ignore-not-found", "-o", "name")
    ranges, ports = _api_server(api)
    deployments = api.run("get", "deployments.apps", "--all-namespaces", "-o", "name")
    return LiveCluster(
        nodes=tuple(each for each in objects if each.kind == "Node"),
        shared=dict(_shared(objects)),
        minor=int("".join(c for c in version["minor"] if c.isdigit())),
        has_metrics=bool(served.strip()),
        has_autoscaler=any(name in deployments for name in _AUTOSCALERS),
        adds_tolerations=_adds_tolerations(api, gpu_resource) if gpu_resource else None,
        mutates=any(each["name"] == "mutatingadmissionpolicies" for each in admission["resources"]),
        api_server=ranges,
        api_ports=ports,
    )


def _api_server(api: Api) -> tuple[tuple[str, ...], tuple[int, ...]]:
    try:
        found = api.run("get", *_API_OBJECTS, "--namespace", "default", "--ignore-not-found", "-o", "json")
    except UserError:  # a role may leave them out; the owner then sets apiServerCidrs
        return (), API_PORTS
    listed = json.loads(found)["items"]
    addresses = [a for each in listed for a in each.get("spec", {}).get("clusterIPs", ())]
    addresses += [a for each in listed for endpoint in each.get("endpoints") or () for a in endpoint["addresses"]]
    ports = {port["port"] for each in listed for port in each.get("spec", each).get("ports") or ()}
    return tuple(str(ip_network(address)) for address in addresses), tuple(sorted(ports)) or API_PORTS


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
    pod: Mapping[str, Any] = {**_PROBE, "spec": {"containers": [container]}}
    try:
        admitted = json.loads(api.run("create", "--dry-run=server", "-o", "json", "-f", "-", stdin=json.dumps(pod)))
    except UserError:
        return None  # refused by a quota, a policy or missing rights
    return any(each.get("key") == resource for each in admitted["spec"].get("tolerations") or ())


def nodes(api: Api) -> list[LiveObject]:
    """Return all nodes as they are now.

    Raises
    ------
    UserError
        The cluster does not answer.
    """
    return [LiveObject(item) for item in json.loads(api.run("get", "nodes", "-o", "json"))["items"]]
