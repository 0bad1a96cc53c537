"""Which operation of which service a request asks for, and with what."""

import io
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final
from urllib.parse import parse_qs, parse_qsl, unquote

from botocore.model import OperationModel

from emulators.aws.server.decoding import from_form, from_json, from_text
from emulators.aws.server.errors import AwsError
from emulators.aws.server.models import BY_PATH, operation, protocol, services_signed_as
from workbench.offline.aws.models import service_model

NAMING: Final = re.compile(r"(?:Id|Ids|Name|Names|Arn|Arns|^name|^Resources)$")
"""Members of a request that say what it is about."""

_CREDENTIAL: Final = re.compile(r"Credential=[^/]+/\d+/[^/]+/([^/]+)/aws4_request")


@dataclass(frozen=True)
class Request:
    """One request to AWS.

    Parameters
    ----------
    service
        By botocore's name, such as ``ec2``.
    model
        The operation.
    params
        The members, as boto3's caller gave them.
    """

    service: str
    model: OperationModel
    params: dict[str, Any]

    @property
    def operation(self) -> str:
        """Name with the service, such as ``eks:CreateCluster``."""
        return f"{self.service}:{self.model.name}"

    @property
    def about(self) -> str:
        """What the request names, such as ``mlrun-dev/gpu``; empty if nothing."""
        return "/".join(_names(self.params))


def read(environ: dict[str, Any]) -> Request:
    """Read a request; its body can be read once more by the next reader of ``environ``.

    Raises
    ------
    AwsError
        No service of the emulator has such an operation, or the body is not what the protocol says.
    """
    body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    environ["wsgi.input"] = io.BytesIO(body)
    if environ["REQUEST_METHOD"] == "POST" and environ.get("CONTENT_TYPE", "").startswith("application/x-www-form"):
        return _form(environ, dict(parse_qsl(body.decode(), keep_blank_values=True)))
    if target := environ.get("HTTP_X_AMZ_TARGET"):
        return _targeted(target, _json(body))
    return _rest(environ, _json(body))


def _form(environ: Mapping[str, Any], form: Mapping[str, str]) -> Request:
    signed = _signed_as(environ)
    service = services_signed_as().get(signed, {}).get(form.get("Version", ""))
    known = operation(service, form.get("Action", "")) if service else None
    if service is None or known is None:
        asked = f"{signed or 'unsigned'} {form.get('Action')} of version {form.get('Version')}"
        raise _unknown(asked)
    return Request(service, known, from_form(form, known.input_shape, protocol=protocol(service)))


def _targeted(target: str, body: Any) -> Request:
    prefix, _, name = target.rpartition(".")
    services = (service for versions in services_signed_as().values() for service in versions.values())
    service = next((each for each in services if service_model(each).metadata.get("targetPrefix") == prefix), None)
    known = operation(service, name) if service else None
    if service is None or known is None:
        raise _unknown(target)
    return Request(service, known, from_json(body, known.input_shape) if known.input_shape else {})


def _rest(environ: Mapping[str, Any], body: Any) -> Request:
    # Only the raw path distinguishes a slash inside a name from one between two.
    path, _, query = str(environ["REQUEST_URI"]).partition("?")
    signed = services_signed_as().get(_signed_as(environ), {}).values()
    for service in sorted(BY_PATH, key=lambda each: each not in signed):
        for name, method, pattern in _routes(service):
            found = pattern.fullmatch(path)
            if found and environ["REQUEST_METHOD"] == method:
                known = service_model(service).operation_model(name)
                return Request(service, known, _located(known, found.groupdict(), query, body))
    raise _unknown(f"{environ['REQUEST_METHOD']} {path}")


def _signed_as(environ: Mapping[str, Any]) -> str:
    """Return the service that a request is signed for; empty if it is not signed."""
    signed = _CREDENTIAL.search(environ.get("HTTP_AUTHORIZATION", ""))
    return signed[1] if signed else ""


@cache
def _routes(service: str) -> list[tuple[str, str, re.Pattern[str]]]:
    """Return name, method and path of each operation; the names in paths as groups."""
    routes = []
    for name in service_model(service).operation_names:
        http = service_model(service).operation_model(name).http
        path = re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/]+)", re.escape(http["requestUri"]))
        routes.append((name, http["method"], re.compile(path)))
    return routes


def _located(known: OperationModel, in_path: Mapping[str, str], query: str, body: Any) -> dict[str, Any]:
    """Return the members of a request whose members stand in the path, in the query and in the body."""
    shape = known.input_shape
    if shape is None:
        return {}
    if not isinstance(body, dict):
        raise AwsError("SerializationException", 400, f"The body must be a JSON object, given {type(body).__name__}.")
    in_query = parse_qs(query, keep_blank_values=True)
    params: dict[str, Any] = {}  # what is in the path comes first: the cluster before what is in it
    for name, member in shape.members.items():
        place, written = member.serialization.get("location"), member.serialization.get("name", name)
        if place == "uri":
            params[name] = from_text(unquote(in_path[written]), member)
        elif place == "querystring" and written in in_query:
            values = in_query[written]
            is_list = member.type_name == "list"
            params[name] = (
                [from_text(each, member.member) for each in values] if is_list else from_text(values[0], member)
            )
    return {**params, **from_json(body, shape)}


def _json(body: bytes) -> Any:
    try:
        return json.loads(body or b"{}")
    except ValueError as error:
        raise AwsError("SerializationException", 400, f"The body is no JSON: {error}.") from None


def _unknown(asked: str) -> AwsError:
    return AwsError("UnknownOperationException", 404, f"The AWS emulator has no such operation: {asked}.")


def _names(params: Mapping[str, Any], depth: int = 0) -> Iterator[str]:
    for member, value in params.items():
        values = value if isinstance(value, list) else [value]
        for each in values:
            if isinstance(each, str) and NAMING.search(member):
                yield each
            elif isinstance(each, dict) and isinstance(value, list) and depth == 0:
                yield from _names(each, depth + 1)
