"""Units of work, and the requests that create their objects."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from components.contract.labels import WellKnownLabel
from workbench.rehearsal.play import labels
from workbench.rehearsal.play.authors import ADMINISTRATOR, Author
from workbench.rehearsal.scenario.work import Scales, Work

Manifest = dict[str, Any]

AUTOSCALER_OF_PODS: Final = "HorizontalPodAutoscaler"
_PODLESS: Final = ("PersistentVolume", "PersistentVolumeClaim", AUTOSCALER_OF_PODS)
"""Kinds whose refusal costs a unit no pod."""


@dataclass(frozen=True)
class Unit:
    """One arrival of a work.

    Parameters
    ----------
    work_name, work
        The work under ``works`` of the scenario.
    index
        Number among the units of the work, from 0.
    namespace
        Where its objects are.
    """

    work_name: str
    work: Work
    index: int
    namespace: str

    @property
    def name(self) -> str:
        """Its name in the record, such as ``train-3``."""
        return f"{self.work_name}-{self.index}"

    @property
    def object_name(self) -> str:
        """Its name as objects of the cluster have it."""
        return f"{labels.object_name(self.work_name)}-{self.index}"

    @property
    def labels(self) -> dict[str, str]:
        """Labels of all its pods."""
        found = {
            labels.WORK: labels.label_value(self.work_name),
            labels.UNIT: labels.label_value(self.name),
            labels.KIND: self.work.kind.value,
            labels.TEAM: labels.label_value(self.work.team),
        }
        return {**{key: value for key, value in found.items() if value}, **self.work.labels}

    @property
    def claim(self) -> str:
        """Name of its claim and of its volume."""
        return f"rehearsal-{self.object_name}"


@dataclass(frozen=True)
class Request:
    """An object, and who creates it."""

    manifest: Manifest
    author: Author = ADMINISTRATOR

    @property
    def kind(self) -> str:
        """Kind of the object."""
        return str(self.manifest["kind"])

    @property
    def makes_pods(self) -> bool:
        """Whether it is a pod, or something that creates pods."""
        return self.kind not in _PODLESS

    @property
    def name(self) -> str:
        """Name of the object."""
        return str(self.manifest["metadata"]["name"])


def pod(unit: Unit, name: str, spec: Mapping[str, Any], **metadata: Any) -> Manifest:
    """Return a bare pod of a unit; ``labels`` and ``annotations`` add to its own."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": unit.namespace, **_inside(unit, metadata)},
        "spec": _mounted(unit, {"restartPolicy": "Never", **spec}),
    }


def deployment(unit: Unit, spec: Mapping[str, Any], **metadata: Any) -> Manifest:
    """Return a Deployment with the replicas that the work has at first."""
    name = unit.object_name
    match = {labels.UNIT: unit.labels[labels.UNIT]}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": unit.namespace, "labels": dict(unit.labels)},
        "spec": {
            "replicas": unit.work.replicas,
            "selector": {"matchLabels": match},
            "template": {"metadata": _inside(unit, metadata), "spec": _mounted(unit, spec)},
        },
    }


def horizontal_pod_autoscaler(unit: Unit, scales: Scales) -> Manifest:
    """Return the HorizontalPodAutoscaler of a unit's Deployment.

    It has no ``behavior``, whose periods are whole seconds of real time. Without one, each sync at most doubles the
    replicas, or sets them to 4, and all surplus replicas may be removed at once (kubernetes v1.36.3,
    ``pkg/controller/podautoscaler/horizontal.go``, ``calculateScaleUpLimit``).
    """
    target = {"type": "Utilization", "averageUtilization": unit.work.target_utilization}
    return {
        "apiVersion": "autoscaling/v2",
        "kind": AUTOSCALER_OF_PODS,
        "metadata": {"name": unit.object_name, "namespace": unit.namespace, "labels": dict(unit.labels)},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": unit.object_name},
            "minReplicas": scales.min,
            "maxReplicas": scales.max,
            "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": target}}],
        },
    }


def job(unit: Unit, spec: Mapping[str, Any], **metadata: Any) -> Manifest:
    """Return a Job with as many pods at once as the work has workers."""
    count = unit.work.workers
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": unit.object_name, "namespace": unit.namespace, "labels": dict(unit.labels)},
        "spec": {
            "parallelism": count,
            "completions": count,
            "template": {
                "metadata": _inside(unit, metadata),
                "spec": _mounted(unit, {"restartPolicy": "Never", **spec}),
            },
        },
    }


def volume(unit: Unit) -> tuple[Request, ...]:
    """Return the volume and the claim of a unit, bound to each other; none if it has none.

    The volume is in the zone of the work. Without one, the player sets the zone of the first node.
    """
    if not (chosen := unit.work.volume):
        return ()
    size = {"storage": chosen.size}
    common = {"accessModes": ["ReadWriteOnce"], "storageClassName": ""}
    spec: Manifest = {
        **common,
        "capacity": size,
        "hostPath": {"path": f"/rehearsal/{unit.claim}"},
        "claimRef": {"namespace": unit.namespace, "name": unit.claim},
        "persistentVolumeReclaimPolicy": "Retain",
    }
    if chosen.zone:
        spec["nodeAffinity"] = in_zone(chosen.zone)
    claim = {**common, "resources": {"requests": size}, "volumeName": unit.claim}
    at = {"name": unit.claim, "namespace": unit.namespace}
    return (
        Request({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": unit.claim}, "spec": spec}),
        Request({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": at, "spec": claim}),
    )


def in_zone(zone: str) -> Manifest:
    """Return the node affinity of a volume in a zone."""
    demand = {"key": WellKnownLabel.ZONE.value, "operator": "In", "values": [zone]}
    return {"required": {"nodeSelectorTerms": [{"matchExpressions": [demand]}]}}


def _inside(unit: Unit, metadata: Mapping[str, Any]) -> Manifest:
    found: Manifest = {"labels": {**unit.labels, **metadata.get("labels", {})}}
    if annotations := metadata.get("annotations"):
        found["annotations"] = dict(annotations)
    if owners := metadata.get("owners"):
        found["ownerReferences"] = list(owners)
    return found


def _mounted(unit: Unit, spec: Mapping[str, Any]) -> Manifest:
    if not unit.work.volume:
        return dict(spec)
    volumes = [*spec.get("volumes", ()), {"name": "rehearsal", "persistentVolumeClaim": {"claimName": unit.claim}}]
    return {**spec, "volumes": volumes}
