"""A cluster for tests of how scenarios are played: an API that keeps objects, with no controller behind it."""

import queue
import threading
from collections.abc import Iterator, Mapping
from copy import deepcopy
from http import HTTPStatus
from itertools import count
from typing import Any

from components.contract.labels import WellKnownLabel
from infra.config import StackConfig
from support.rehearsal_stacks import stack
from workbench.rehearsal.cluster.simulated import ApiError, Closing, Usages
from workbench.rehearsal.play.agenda import Clock
from workbench.rehearsal.play.chronicle import Chronicle
from workbench.rehearsal.play.site import Site
from workbench.rehearsal.record import GroupFacts
from workbench.rehearsal.settings import Pace, Scaler

Manifest = dict[str, Any]


class FakeWatch:
    """Events that the fake API puts into a queue."""

    def __init__(self) -> None:
        self.events: queue.Queue[Mapping[str, Any] | None] = queue.Queue()

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return self

    def __next__(self) -> Mapping[str, Any]:
        if (event := self.events.get()) is None:
            raise StopIteration
        return event

    def close(self) -> None:
        self.events.put(None)


class FakeApi:
    """Keeps objects; pods run at once if ``runs``, and ``refuses`` names kinds with the message of their refusal."""

    def __init__(self, *, runs: str = "") -> None:
        self.objects: dict[str, Manifest] = {}
        self.runs = runs
        """Node on which created pods run; empty leaves them waiting."""
        self.refuses: dict[str, str] = {}
        self.authors: dict[str, tuple[str, tuple[str, ...]]] = {}
        self.graces: dict[str, int | None] = {}
        self.watches: list[tuple[str, FakeWatch]] = []
        self._uids = count(1)
        self._lock = threading.RLock()

    def path_of(self, manifest: Mapping[str, Any]) -> str:
        metadata, version = manifest["metadata"], manifest["apiVersion"]
        base = f"/apis/{version}" if "/" in version else f"/api/{version}"
        scope = f"/namespaces/{metadata['namespace']}" if "namespace" in metadata else ""
        return f"{base}{scope}/{manifest['kind'].lower()}s/{metadata['name']}"

    def get(self, path: str) -> Any:
        with self._lock:
            if path in self.objects:
                return self.objects[path]
            kind = path.partition("?")[0].rpartition("/")[2]
            return {"items": [each for key, each in self.objects.items() if key.split("/")[-2] == kind]}

    def create(self, manifest: Mapping[str, Any], *, as_user: str = "", as_groups: tuple[str, ...] = ()) -> Any:
        if manifest["kind"] == "Eviction":
            self.delete(f"/api/v1/namespaces/{manifest['metadata']['namespace']}/pods/{manifest['metadata']['name']}")
            return {}
        with self._lock:
            if message := self.refuses.get(manifest["kind"]):
                raise ApiError(HTTPStatus.FORBIDDEN, message)
            path = self.path_of(manifest)
            if path in self.objects:
                raise ApiError(HTTPStatus.CONFLICT, f"{path} exists")
            made: Manifest = deepcopy(dict(manifest))
            made["metadata"]["uid"] = f"uid-{next(self._uids)}"
            self.authors[path] = (as_user, as_groups)
            if made["kind"] == "Pod" and self.runs:
                made["spec"]["nodeName"] = self.runs
                made["status"] = {"phase": "Running"}
            if made["kind"] == "PersistentVolumeClaim":
                made["status"] = {"phase": "Bound"}
            self.objects[path] = made
            self.tell("ADDED", made)
            return made

    def apply(self, manifest: Mapping[str, Any]) -> Any:
        with self._lock:
            self.objects[self.path_of(manifest)] = dict(manifest)
        return manifest

    def patch(self, path: str, patch: Mapping[str, Any]) -> Any:
        with self._lock:
            found = self.objects.get(path.removesuffix("/status"))
            if found is None:
                raise ApiError(HTTPStatus.NOT_FOUND, f"{path} not found")
            made = _merged(found, patch)
            self.objects[path.removesuffix("/status")] = made
            self.tell("MODIFIED", made)
            return made

    def delete(self, path: str, *, grace: int | None = None) -> bool:
        with self._lock:
            self.graces[path] = grace
            if (found := self.objects.pop(path, None)) is None:
                return False
            self.tell("DELETED", found)
            return True

    def watch(self, path: str) -> FakeWatch:
        watch = FakeWatch()
        with self._lock:
            self.watches.append((path, watch))
            for each in self.get(path)["items"]:
                watch.events.put({"type": "ADDED", "object": deepcopy(each)})
        return watch

    def close(self) -> None:
        for _, watch in self.watches:
            watch.close()

    def tell(self, change: str, made: Manifest) -> None:
        for path, watch in self.watches:
            if path.endswith(f"/{made['kind'].lower()}s"):
                watch.events.put({"type": change, "object": deepcopy(made)})


def _merged(old: Mapping[str, Any], patch: Mapping[str, Any]) -> Manifest:
    found = dict(old)
    for key, value in patch.items():
        both = isinstance(value, Mapping) and isinstance(found.get(key), Mapping)
        found[key] = _merged(found[key], value) if both else value
    return found


class FakeCluster:
    """A cluster of a stack with a fake API."""

    def __init__(self, api: FakeApi | None = None, config: StackConfig | None = None, speed: float = 60.0) -> None:
        self.name = "fake"
        self.config = config or stack()
        self.groups: tuple[GroupFacts, ...] = tuple(_group(each) for each in self.config.groups)
        self.pace = Pace(speed=speed)
        self.scaler = Scaler.CLUSTER_AUTOSCALER
        self.api = api or FakeApi()
        self.assumptions: tuple[str, ...] = ("It is a fake.",)
        self.lost: Exception | None = None
        self.usages: Usages | None = None
        """What the scenario lets its pods use, while it is played."""

    def serve_metrics(self, usages: Usages) -> Closing:
        self.usages = usages
        return _Served(self)

    def check(self) -> None:
        if self.lost:
            raise self.lost


class _Served:
    def __init__(self, cluster: FakeCluster) -> None:
        self._cluster = cluster

    def close(self) -> None:
        self._cluster.usages = None


def _group(group: Any) -> GroupFacts:
    return GroupFacts(
        name=group.name, pool=group.pool, role=group.role.value, lifecycle=group.lifecycle.value, zone=group.zone,
        instance_type=group.instances[0].name, min=group.size.min, max=group.size.max, is_elastic=group.is_elastic,
        labels=group.labels, taints=(), gpu_resource=group.gpu_resource, cpu_millis=8000, memory_mib=32000, gpus=0,
    )  # fmt: skip


class Stage:
    """A chronicle of a fake cluster whose time a test moves; ``tick`` is in seconds of the scenario."""

    def __init__(self, config: StackConfig | None = None) -> None:
        self.cluster = FakeCluster(config=config)
        self.api = self.cluster.api
        self._ticks = 0.0
        self.clock = Clock(self.cluster.pace, lambda: self._ticks)
        self.chronicle = Chronicle(self.cluster, self.clock)
        self.site = Site(self.cluster, self.chronicle, self.clock)
        self.api.tell = self._see  # type: ignore[method-assign]

    def wait(self, seconds: float) -> None:
        self._ticks += self.cluster.pace.real(seconds)

    def _see(self, change: str, made: Manifest) -> None:
        see = {"Pod": self.chronicle.see_pod, "Node": self.chronicle.see_node}.get(made["kind"])
        if see:
            see(change, deepcopy(made))

    def node(self, name: str, pool: str = "work", *, elastic: bool = False, zone: str = "a", **annotations: str) -> Any:
        (group,) = (each for each in self.cluster.groups if each.pool == pool)
        marks = {"cluster-autoscaler.kwok.nodegroup/name": group.name} if elastic else {}
        return self.api.create(
            {
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": {
                    "name": name,
                    "labels": {**group.labels, WellKnownLabel.ZONE.value: zone, "kubernetes.io/hostname": name},
                    "annotations": {**marks, **annotations},
                },
                "spec": {},
                "status": {
                    "conditions": [{"type": "Ready", "status": "True"}],
                    "allocatable": {"cpu": "7910m", "memory": "30Gi", "pods": "58"},
                },
            }
        )

    def pod(self, name: str, node: str = "", unit: str = "", **spec: Any) -> Any:
        marks = {"igz-clusters.io/rehearsal-work": unit.rpartition("-")[0], "igz-clusters.io/rehearsal-unit": unit,
                 "igz-clusters.io/rehearsal-kind": "mlrun-job"}  # fmt: skip
        self.api.runs = node
        resources = {"requests": {"cpu": "500m", "memory": "1Gi", "nvidia.com/gpu": "1"}}
        return self.api.create(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": name, "namespace": "mlrun", "labels": marks if unit else {}},
                "spec": {"containers": [{"name": "main", "resources": resources}], **spec},
            }
        )

    def change(self, pod: str, **status: Any) -> None:
        self.api.patch(f"/api/v1/namespaces/mlrun/pods/{pod}/status", {"status": status})

    def remove(self, pod: str) -> None:
        self.api.delete(f"/api/v1/namespaces/mlrun/pods/{pod}")

    def names(self, kind: str = "nodes") -> set[str]:
        return {each["metadata"]["name"] for each in self.api.get(f"/{kind}")["items"]}

    def observed(self, pod: str) -> Any:
        return [each for each in self.chronicle.pods.values() if each.name == pod][-1]
