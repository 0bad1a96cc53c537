"""What stands in a cluster that its stack did not make, and that its deletion would leave in its cloud, or lose.

Load balancers of Services and Ingresses are made by controllers in the cluster: gone with it, nobody deletes them, and
their network interfaces keep subnets from being deleted. Volumes of claims go with the claim or stay for ever:
https://docs.aws.amazon.com/eks/latest/userguide/delete-cluster.html. AKS deletes load balancers and disks with the
cluster, and with them data that somebody may want: https://learn.microsoft.com/azure/aks/faq.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from typing_extensions import override

from workbench.engine.kubectl import Api

_CLAIM: Final = "persistentvolumeclaim"


@dataclass(frozen=True)
class Made:
    """An object that somebody made in the cluster."""

    kind: str
    """As kubectl takes it, such as ``service``."""
    namespace: str
    """Empty for a volume."""
    name: str
    holds: str = field(compare=False)
    """What is in the cloud because of it, in words. It changes while the object goes: the address goes first."""
    finalizers: tuple[str, ...] = field(default=(), compare=False)

    @override
    def __str__(self) -> str:
        """Return kind, place and what hangs on it."""
        place = f"{self.namespace}/" if self.namespace else ""
        return f"{self.kind} {place}{self.name} ({self.holds})"


@dataclass(frozen=True)
class Inside:
    """What stands in the way of a cluster's deletion.

    Parameters
    ----------
    entrances
        Services of type LoadBalancer and Ingresses: deleted first, or their load balancers stay.
    claims
        Claims whose volume, and all data on it, goes with them.
    volumes
        Volumes that go after their claim, which is gone long before: deleted by the storage driver as long as it runs.
    kept
        Volumes that outlive claim and cluster because somebody said so (``Retain``), in words.
    """

    entrances: tuple[Made, ...] = ()
    claims: tuple[Made, ...] = ()
    volumes: tuple[Made, ...] = ()
    kept: tuple[str, ...] = ()

    @property
    def going(self) -> tuple[Made, ...]:
        """All that must be gone before the cluster goes."""
        return (*self.entrances, *self.claims, *self.volumes)


@dataclass(frozen=True)
class Kubectl(Api):
    """Looks for what users made, and deletes it."""

    def look(self, ours: Collection[tuple[str, str, str]] = ()) -> Inside:
        """Return what is in the cluster.

        Parameters
        ----------
        ours
            Kind, namespace and name of the objects that the engine deletes itself.

        Raises
        ------
        UserError
            The cluster does not answer.
        """
        listed = self.run("get", "services,ingresses,persistentvolumeclaims,persistentvolumes", "-A", "-o", "json")
        return inside(json.loads(listed)["items"], ours)

    def delete(self, objects: Iterable[Made]) -> None:
        """Ask for the deletion of objects; their controllers take their time.

        Raises
        ------
        UserError
            The cluster refuses one.
        """
        for each in objects:
            what = (each.kind, each.name, f"--namespace={each.namespace}")
            self.run("delete", *what, "--wait=false", "--ignore-not-found")


def going_namespaces(api: Api) -> dict[str, str]:
    """Return the namespaces that are being deleted, each with what holds it, in the API server's words.

    Raises
    ------
    UserError
        The cluster does not answer, or refuses.
    """
    items = json.loads(api.run("get", "namespaces", "-o", "json"))["items"]
    return {item["metadata"]["name"]: _held_by(item) for item in items if item["metadata"].get("deletionTimestamp")}


def _held_by(namespace: Mapping[str, Any]) -> str:
    told = [
        each.get("message", "")
        for each in namespace["status"].get("conditions", ())
        if each["status"] == "True" and each["type"].endswith(("Remaining", "Failure"))
    ]
    return " ".join(told) or "nobody says what holds it"


def inside(items: Sequence[Mapping[str, Any]], ours: Collection[tuple[str, str, str]] = ()) -> Inside:
    """Sort what the API server listed: Services, Ingresses, claims and volumes of all namespaces."""
    volumes = {item["metadata"]["name"]: item for item in items if item["kind"] == "PersistentVolume"}
    claims = list(_claims(items, volumes))
    return Inside(
        entrances=tuple(made for made in _entrances(items) if (made.kind, made.namespace, made.name) not in ours),
        claims=tuple(
            made for made, is_kept in claims if not is_kept and (made.kind, made.namespace, made.name) not in ours
        ),
        volumes=tuple(_going(volumes.values(), ours)),
        kept=tuple(_kept(volumes.values())),
    )


def _entrances(items: Iterable[Mapping[str, Any]]) -> Iterator[Made]:
    for item in items:
        addresses = item.get("status", {}).get("loadBalancer", {}).get("ingress") or ()
        shown = ", ".join(each.get("hostname") or each.get("ip") or "?" for each in addresses)
        if item["kind"] == "Ingress":
            yield _made("ingress", item, shown or "no address")
        elif item["kind"] == "Service" and item["spec"].get("type") == "LoadBalancer":
            yield _made("service", item, f"load balancer {shown}".strip())


def _claims(
    items: Iterable[Mapping[str, Any]], volumes: Mapping[str, Mapping[str, Any]]
) -> Iterator[tuple[Made, bool]]:
    for item in items:
        if item["kind"] == "PersistentVolumeClaim":
            name = item["spec"].get("volumeName", "")
            volume = volumes.get(name)
            is_kept = bool(volume) and _policy(volume or {}) == "Retain"
            size = item["spec"].get("resources", {}).get("requests", {}).get("storage", "?")
            yield (
                _made(_CLAIM, item, f"{size}, volume {_handle(volume) or name or 'none yet'}"),
                is_kept,
            )


def _going(volumes: Iterable[Mapping[str, Any]], ours: Collection[tuple[str, str, str]]) -> Iterator[Made]:
    for volume in volumes:
        # One that no claim ever had is nobody's to delete.
        claim = volume["spec"].get("claimRef") or {}
        if claim and _policy(volume) == "Delete" and (_CLAIM, claim.get("namespace"), claim.get("name")) not in ours:
            yield _made("persistentvolume", volume, _handle(volume) or "no volume of a driver")


def _kept(volumes: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for volume in volumes:
        if _policy(volume) == "Retain":
            claim = volume["spec"].get("claimRef") or {}
            of = f" of claim {claim.get('namespace')}/{claim.get('name')}" if claim else ""
            yield f"{_handle(volume) or volume['metadata']['name']}{of}"


def _policy(volume: Mapping[str, Any]) -> str:
    return str(volume.get("spec", {}).get("persistentVolumeReclaimPolicy", ""))


def _handle(volume: Mapping[str, Any] | None) -> str:
    spec = (volume or {}).get("spec", {})
    return str(spec.get("csi", {}).get("volumeHandle") or spec.get("awsElasticBlockStore", {}).get("volumeID") or "")


def _made(kind: str, item: Mapping[str, Any], holds: str) -> Made:
    metadata = item["metadata"]
    return Made(kind, metadata.get("namespace", ""), metadata["name"], holds, tuple(metadata.get("finalizers") or ()))
