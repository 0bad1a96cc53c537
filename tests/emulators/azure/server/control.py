"""Routes under ``/_emulator/`` for tests: what Azure's own API does not have."""

from typing import Any

from pydantic import AwareDatetime, NonNegativeInt, PositiveInt
from typing_extensions import override

from emulators.azure.server.application import Application
from emulators.azure.server.ids import CLUSTER, POOL, ArmId
from emulators.azure.server.kinds.network import INTERFACE, interface
from emulators.azure.server.kinds.network_kind import SUBNET
from emulators.azure.server.kinds.security_rules import lets_in
from emulators.azure.server.store import Resource
from emulators.core import control
from emulators.core.control import Body, Route


class _Move(Body):
    pool: str
    count: NonNegativeInt


class _Moment(Body):
    at: AwareDatetime


class _Interface(Body):
    subnet: str
    name: str = "left-by-a-load-balancer"


class _Cluster(Body):
    cluster: str


class _Opening(Body):
    subnet: str
    port: PositiveInt
    source: str


class _Stranger(Body):
    id: str


class _Left(Body):
    interface: str


class Control(control.Control):
    """Azure with the routes of the tests beside its own."""

    def __init__(self, application: Application) -> None:
        super().__init__(application, application.resources.clusters.doors)
        self._store = application.resources.store
        self._clusters = application.resources.clusters
        self._resources = application.resources

    @override
    def routes(self) -> dict[tuple[str, str], Route]:
        return {
            **super().routes(),
            ("DELETE", "network-interfaces"): self._remove_interface,
            ("POST", "network-interfaces"): self._interface,
            ("POST", "ailments"): self._ailments,
            ("POST", "backups"): self._run_backups,
            ("POST", "openings"): self._opening,
            ("POST", "schedules"): self._run_schedules,
            ("POST", "strangers"): self._stranger,
            ("POST", "sizes"): self._move,
        }

    def _interface(self, body: bytes, _query: str) -> Any:
        wanted = _Interface.model_validate_json(body)
        with self._application.store:
            made = interface(self._found(wanted.subnet, SUBNET), wanted.name)
            self._store.add(made)
            return made.id.text

    def _remove_interface(self, body: bytes, _query: str) -> Any:
        wanted = _Left.model_validate_json(body)
        with self._application.store:
            self._store.remove(self._found(wanted.interface, INTERFACE))

    def _ailments(self, body: bytes, _query: str) -> Any:
        with self._application.store:
            self._application.clock.settle()
            return self._clusters.ailments(self._found(_Cluster.model_validate_json(body).cluster, CLUSTER).id)

    def _opening(self, body: bytes, _query: str) -> Any:
        asked = _Opening.model_validate_json(body)
        with self._application.store:
            return lets_in(self._store, self._found(asked.subnet, SUBNET), asked.port, asked.source)

    def _stranger(self, body: bytes, _query: str) -> Any:
        id_ = ArmId(_Stranger.model_validate_json(body).id)
        if id_.group is None or self._store.find(id_.group) is None:
            raise LookupError(f"there is no resource group for {id_.text}")
        with self._application.store:
            self._store.add(Resource(id_, id_.type, {"properties": {}}))

    def _run_schedules(self, body: bytes, _query: str) -> list[str]:
        wanted = _Moment.model_validate_json(body)
        with self._application.store:
            self._application.clock.settle()
            return [self._resources.send(post) for post in self._resources.workflows.due(wanted.at)]

    def _run_backups(self, body: bytes, _query: str) -> list[str]:
        wanted = _Moment.model_validate_json(body)
        with self._application.store:
            self._application.clock.settle()
            return self._resources.points.run(wanted.at)

    def _move(self, body: bytes, _query: str) -> Any:
        wanted = _Move.model_validate_json(body)
        with self._application.store:
            pool = self._found(wanted.pool, POOL)
            least, most = pool.properties.get("minCount"), pool.properties.get("maxCount")
            if least is None or most is None:
                raise ValueError(f"{pool.id.name} is not autoscaled")
            if not least <= wanted.count <= most:
                raise ValueError(f"{pool.id.name} has {least} to {most} nodes, given {wanted.count}")
            pool.properties["count"] = wanted.count

    def _found(self, id_: str, type_: str) -> Resource:
        found = self._store.find(ArmId(id_))
        if found is None or found.type != type_:
            raise LookupError(f"there is no {type_} {id_}")
        return found
