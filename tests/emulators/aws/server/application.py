"""AWS as an application: EKS is done by a service of our own, the rest by moto's application in the same process.

AWS Backup and FSx are others; what moto lacks of EFS is in ``file_systems.py``, of EC2 in ``placement_groups.py``.

What is done is done one call at a time, because moto is not safe to use from several threads.
"""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from typing_extensions import override

from emulators.aws.server import file_systems, placement_groups
from emulators.aws.server.answers import JSON_TYPES, members_of, refusal, success
from emulators.aws.server.backup import Backup
from emulators.aws.server.consequences import follow, has_consequence
from emulators.aws.server.errors import AwsError
from emulators.aws.server.fsx import Fsx
from emulators.aws.server.inventory import inventory
from emulators.aws.server.models import protocol
from emulators.aws.server.references import check
from emulators.aws.server.repeats import Repeats
from emulators.aws.server.requests import Request, read
from emulators.aws.server.service import Service
from emulators.aws.server.validation import problems
from emulators.core import application
from emulators.core.answers import Answer, Environ
from emulators.core.calls import Call
from emulators.core.clock import Clock
from emulators.core.fault_outcome import FaultOutcome
from emulators.core.refusal import Refusal

REFUSED: dict[str, tuple[str, int]] = {
    "ec2": ("InvalidParameterValue", 400),
    "query": ("ValidationError", 400),
    "json": ("ValidationException", 400),
    "rest-json": ("InvalidParameterException", 400),
    "fsx": ("BadRequest", 400),
}
"""How services word what their model does not allow, by protocol or by service.

FSx: awsdocs/aws-cloudformation-user-guide#439.
"""

OWN_PARTS = {**file_systems.OPERATIONS, **placement_groups.OPERATIONS}
"""What moto does not know of services that it has."""


class Application(application.Application[Request]):
    """AWS.

    Parameters
    ----------
    eks
        The service that answers for EKS.
    clock
        That service's own.
    """

    def __init__(self, eks: Service, clock: Clock) -> None:
        super().__init__(clock)
        self.eks = eks
        self.backup = Backup(clock, lambda name: name in eks.inventory().get("aws:eks/cluster:Cluster", ()))
        self._fsx = Fsx(clock)
        self._own: Mapping[str, Backup | Fsx | Service] = {
            "backup": self.backup,
            "eks": eks,
            "eks-auth": eks,
            "fsx": self._fsx,
        }
        self._repeats = Repeats()
        self._moto = DomainDispatcherApplication(create_backend_app)

    @override
    def read(self, environ: Environ) -> Request:
        return read(environ)

    @override
    def refusal(self, error: Refusal, request: Request | None) -> Answer:
        return refusal(protocol(request.service) if request else "rest-json", error)

    @override
    def code(self, answer: Answer, request: Request) -> str:
        if answer.status < HTTPStatus.MULTIPLE_CHOICES:
            return ""
        error: dict[str, str] = members_of(protocol(request.service), request.model, answer).get("Error", {})
        return error.get("Code", "") or str(answer.status)

    @override
    def inventory(self) -> Mapping[str, list[str]]:
        return {**inventory(), **self.eks.inventory(), **self.backup.inventory(), **self._fsx.inventory()}

    @override
    def miss(self, request: Request, recent: Sequence[Call]) -> None:
        new = {each.about for each in recent if each.operation == "iam:CreateRole"}
        for arn in (value for value in request.params.values() if isinstance(value, str) and ":role/" in value):
            if arn.rpartition("/")[2] in new:
                why = "it does not exist or the trusted entity is not correct"
                message = f"Role with arn: {arn}, could not be assumed because {why}"
                raise AwsError("InvalidParameterException", 400, message)

    @override
    def look(self, request: Request) -> None:
        if wrong := problems(request.params, request.model.input_shape):
            code, status = REFUSED.get(request.service) or REFUSED[protocol(request.service)]
            raise AwsError(code, status, "; ".join(wrong))

    @override
    def do(self, request: Request, outcome: FaultOutcome, environ: Environ) -> Answer:
        if service := self._own.get(request.service):
            return _own_answer(service, request, outcome)
        return self._repeats.answer(request) or self._motos(request, environ)

    def _motos(self, request: Request, environ: Environ) -> Answer:
        check(request)
        if own := OWN_PARTS.get(request.operation):
            return success(protocol(request.service), request.model, own(request.params))
        answer = _moto_answer(self._moto, environ)
        if answer.status >= HTTPStatus.MULTIPLE_CHOICES:
            return answer
        if has_consequence(request):
            written = protocol(request.service)
            members = members_of(written, request.model, answer)
            follow(request, members, self.clock)
            answer = success(written, request.model, members) if written in JSON_TYPES else answer
        self.eks.follow(request.operation, request.params)
        self._repeats.keep(request, answer)
        return answer


def _own_answer(service: Backup | Fsx | Service, request: Request, outcome: FaultOutcome) -> Answer:
    try:
        members = service.handle(request.model.name, request.params, outcome)
    except NotImplementedError as error:
        raise AwsError("NotImplemented", 501, f"The AWS emulator lacks {error}.") from None
    if wrong := problems(members, request.model.output_shape):
        raise AssertionError(f"{request.operation} must not answer so: {'; '.join(wrong)}")
    return success(protocol(request.service), request.model, members)


def _moto_answer(moto: Any, environ: Environ) -> Answer:
    started: dict[str, Any] = {}

    def start(status: str, headers: list[tuple[str, str]], _exc_info: object = None) -> None:
        started.update(status=int(status.partition(" ")[0]), headers=dict(headers))

    body = b"".join(moto(environ, start))
    return Answer(started["status"], started["headers"], body)
