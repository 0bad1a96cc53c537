"""Objects in a cluster that its stack did not create, and that deleting the cluster would orphan or lose.

Load balancers of Services and Ingresses are created by controllers in the cluster. Without the cluster they remain,
and their network interfaces block the deletion of subnets. Volumes are deleted with their claim or remain for ever:
https://docs.aws.amazon.com/eks/latest/userguide/delete-cluster.html. AKS deletes load balancers and disks with the
cluster, including all data on them: https://learn.microsoft.com/azure/aks/faq.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from typing_extensions import override

from workbench.engine.cluster_components import cluster_of, components_of_state, kubeconfig_of
from workbench.engine.kubectl import Api, kubectl
from workbench.system import temporary
from workbench.system.files import write_private

_CLAIM: Final = "persistentvolumeclaim"
_VOLUME: Final = "persistentvolume"
_NO_NAMESPACE: Final = "default"
"""Namespace in ``objects_of`` of objects that are in none."""


@dataclass(frozen=True)
class ClusterObject:
    """An object in the cluster that is not in the stack."""

    kind: str
    """Its kind as in kubectl, such as ``service``."""
    namespace: str
    """Empty for a volume."""
    name: str
    holds: str = field(compare=False)
    """What it keeps in the cloud, as text. Changes during deletion: the address disappears first."""
    finalizers: tuple[str, ...] = field(default=(), compare=False)

    @override
    def __str__(self) -> str:
        """Return kind, namespace, name and what it keeps in the cloud."""
        place = f"{self.namespace}/" if self.namespace else ""
        return f"{self.kind} {place}{self.name} ({self.holds})"


@dataclass(frozen=True)
class ClusterContents:
    """Objects to delete before a cluster is deleted.

    Parameters
    ----------
    load_balancers
        Services of type LoadBalancer and Ingresses: deleted first, or their load balancers remain in the cloud.
    claims
        Claims whose volume, with all its data, is deleted with them.
    volumes
        Volumes that the storage driver deletes some time after their claim, while it runs.
    retained
        Descriptions of volumes that remain after claim and cluster because their policy is ``Retain``.
    """

    load_balancers: tuple[ClusterObject, ...] = ()
    claims: tuple[ClusterObject, ...] = ()
    volumes: tuple[ClusterObject, ...] = ()
    retained: tuple[str, ...] = ()

    @property
    def to_delete(self) -> tuple[ClusterObject, ...]:
        """Everything that must be deleted before the cluster."""
        return (*self.load_balancers, *self.claims, *self.volumes)


@dataclass(frozen=True)
class Kubectl(Api):
    """Lists and deletes what users created in the cluster."""

    def contents(self, ours: Collection[tuple[str, str, str]] = ()) -> ClusterContents:
        """Return what is in the cluster.

        Parameters
        ----------
        ours
            Kind, namespace and name of the objects that the engine itself deletes.

        Raises
        ------
        UserError
            The cluster does not answer.
        """
        listed = self.run("get", "services,ingresses,persistentvolumeclaims,persistentvolumes", "-A", "-o", "json")
        return contents_of(json.loads(listed)["items"], ours)

    def delete(self, objects: Iterable[ClusterObject]) -> None:
        """Request the deletion of objects without waiting for it.

        Raises
        ------
        UserError
            The API server refuses one.
        """
        for each in objects:
            what = (each.kind, each.name, f"--namespace={each.namespace}")
            self.run("delete", *what, "--wait=false", "--ignore-not-found")


@contextmanager
def recorded_cluster(deployment: Mapping[str, Any], environment: Mapping[str, str]) -> Iterator[Kubectl | None]:
    """Yield access to the cluster that a state records, through a temporary file; None if it records none.

    Parameters
    ----------
    environment
        kubectl's environment variables, including credentials.
    """
    config = kubeconfig_of(deployment) if cluster_of(components_of_state(deployment)) else None
    if not config:
        yield None
        return
    with temporary.folder("kubeconfig") as (folder, _):
        file = Path(folder, "kubeconfig")
        write_private(file, config)
        yield Kubectl(kubectl(), file, environment)


def terminating_namespaces(api: Api) -> dict[str, str]:
    """Return the namespaces that are being deleted, each with the API server's reason why it still exists.

    Raises
    ------
    UserError
        The cluster does not answer, or refuses.
    """
    items = json.loads(api.run("get", "namespaces", "-o", "json"))["items"]
    return {item["metadata"]["name"]: _held_by(item) for item in items if item["metadata"].get("deletionTimestamp")}


def _held_by(namespace: Mapping[str, Any]) -> str:
    reasons = [
        each.get("message", "")
        for each in namespace["status"].get("conditions", ())
        if each["status"] == "True" and each["type"].endswith(("Remaining", "Failure"))
    ]
    return " ".join(reasons) or "no reason reported"


def contents_of(items: Sequence[Mapping[str, Any]], ours: Collection[tuple[str, str, str]] = ()) -> ClusterContents:
    """Return Services, Ingresses, claims and volumes of all namespaces, as listed by the API server, classified."""
    volumes = {item["metadata"]["name"]: item for item in items if item["kind"] == "PersistentVolume"}
    claims = list(_claims(items, volumes))
    return ClusterContents(
        load_balancers=tuple(
            each for each in _load_balancers(items) if (each.kind, each.namespace, each.name) not in ours
        ),
        claims=tuple(
            each for each, is_kept in claims if not is_kept and (each.kind, each.namespace, each.name) not in ours
        ),
        volumes=tuple(_to_delete(volumes.values(), ours)),
        retained=tuple(_retained(volumes.values(), ours)),
    )


def _load_balancers(items: Iterable[Mapping[str, Any]]) -> Iterator[ClusterObject]:
    for item in items:
        addresses = item.get("status", {}).get("loadBalancer", {}).get("ingress") or ()
        shown = ", ".join(each.get("hostname") or each.get("ip") or "?" for each in addresses)
        if item["kind"] == "Ingress":
            yield _object("ingress", item, shown or "no address")
        elif item["kind"] == "Service" and item["spec"].get("type") == "LoadBalancer":
            yield _object("service", item, f"load balancer {shown}".strip())


def _claims(
    items: Iterable[Mapping[str, Any]], volumes: Mapping[str, Mapping[str, Any]]
) -> Iterator[tuple[ClusterObject, bool]]:
    for item in items:
        if item["kind"] == "PersistentVolumeClaim":
            name = item["spec"].get("volumeName", "")
            volume = volumes.get(name)
            is_kept = bool(volume) and _policy(volume or {}) == "Retain"
            size = item["spec"].get("resources", {}).get("requests", {}).get("storage", "?")
            yield (
                _object(_CLAIM, item, f"{size}, volume {_handle(volume) or name or 'none yet'}"),
                is_kept,
            )


def _to_delete(volumes: Iterable[Mapping[str, Any]], ours: Collection[tuple[str, str, str]]) -> Iterator[ClusterObject]:
    for volume in volumes:
        # A volume that was never bound is not ours to delete.
        claim = volume["spec"].get("claimRef") or {}
        if claim and _policy(volume) == "Delete" and (_CLAIM, claim.get("namespace"), claim.get("name")) not in ours:
            yield _object(_VOLUME, volume, _handle(volume) or "no driver volume")


def _retained(volumes: Iterable[Mapping[str, Any]], ours: Collection[tuple[str, str, str]]) -> Iterator[str]:
    for volume in volumes:
        # A volume that the stack declares is deleted with its storage, regardless of the policy.
        if _policy(volume) == "Retain" and (_VOLUME, _NO_NAMESPACE, volume["metadata"]["name"]) not in ours:
            claim = volume["spec"].get("claimRef") or {}
            of = f" of claim {claim.get('namespace')}/{claim.get('name')}" if claim else ""
            yield f"{_handle(volume) or volume['metadata']['name']}{of}"


def _policy(volume: Mapping[str, Any]) -> str:
    return str(volume.get("spec", {}).get("persistentVolumeReclaimPolicy", ""))


def _handle(volume: Mapping[str, Any] | None) -> str:
    spec = (volume or {}).get("spec", {})
    return str(spec.get("csi", {}).get("volumeHandle") or spec.get("awsElasticBlockStore", {}).get("volumeID") or "")


def _object(kind: str, item: Mapping[str, Any], holds: str) -> ClusterObject:
    metadata = item["metadata"]
    return ClusterObject(
        kind, metadata.get("namespace", ""), metadata["name"], holds, tuple(metadata.get("finalizers") or ())
    )
