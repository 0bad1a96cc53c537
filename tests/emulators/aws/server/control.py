"""Routes under ``/_emulator/`` for tests: what AWS's own API does not have."""

from typing import Any

from moto.moto_server.werkzeug_app import MotoRequestHandler
from pydantic import AwareDatetime, NonNegativeInt
from typing_extensions import override

from emulators.aws.server import autoscaling, schedules, store
from emulators.aws.server.application import Application
from emulators.aws.server.circumstances import Circumstances
from emulators.aws.server.references import missing_security_groups, missing_subnets
from emulators.core import control, listening
from emulators.core.control import Body, Route


class _Move(Body):
    group: str
    desired: NonNegativeInt


class _Moment(Body):
    at: AwareDatetime


class _Interface(Body):
    subnet: str
    groups: tuple[str, ...] = ()
    description: str = "left by a load balancer"


class Handler(listening.Handler, MotoRequestHandler):
    """Reads headers as moto wants them."""


class Control(control.Control):
    """AWS with its own routes and those of the tests."""

    def __init__(self, application: Application) -> None:
        super().__init__(application, application.eks.doors)
        self._eks, self._backup = application.eks, application.backup

    @override
    def routes(self) -> dict[tuple[str, str], Route]:
        return {
            **super().routes(),
            ("POST", "backups"): self._run_backups,
            ("POST", "network-interfaces"): self._interface,
            ("POST", "schedules"): self._run_schedules,
            ("POST", "sizes"): self._move,
            ("PUT", "circumstances"): self._circumstances,
        }

    def _circumstances(self, body: bytes, _query: str) -> Any:
        with self._application.store:
            self._eks.set_circumstances(Circumstances.model_validate_json(body))

    def _interface(self, body: bytes, _query: str) -> Any:
        wanted = _Interface.model_validate_json(body)
        with self._application.store:
            if missing := [*missing_subnets([wanted.subnet]), *missing_security_groups(list(wanted.groups))]:
                raise LookupError(f"there is no {' and no '.join(missing)}")
            made = store.ec2().create_network_interface(
                store.ec2().get_subnet(wanted.subnet), "", group_ids=list(wanted.groups), description=wanted.description
            )
            return made.id

    def _run_backups(self, body: bytes, _query: str) -> list[str]:
        wanted = _Moment.model_validate_json(body)
        with self._application.store:
            return self._backup.run(wanted.at)

    def _run_schedules(self, body: bytes, _query: str) -> list[str]:
        wanted = _Moment.model_validate_json(body)
        with self._application.store:
            return schedules.run(wanted.at)

    def _move(self, body: bytes, _query: str) -> Any:
        wanted = _Move.model_validate_json(body)
        with self._application.store:
            size = autoscaling.size_of(wanted.group)
            if not size.minimum <= wanted.desired <= size.maximum:
                raise ValueError(f"{wanted.group} has {size.minimum} to {size.maximum} nodes, given {wanted.desired}")
            autoscaling.resize(wanted.group, autoscaling.Size(size.minimum, size.maximum, wanted.desired))
