"""What a request asks of ARM: which operation, about what, with what."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPMethod
from typing import Any, Final
from urllib.parse import parse_qsl, unquote

from emulators.azure.server.ids import ArmId
from emulators.core.answers import Environ
from emulators.core.fault_outcome import AS_USUAL, FaultOutcome
from emulators.core.refusal import Refusal

VERSION: Final = re.compile(r"\d{4}-\d{2}-\d{2}(-preview)?")

VERBS: Final = {HTTPMethod.PUT: "write", HTTPMethod.GET: "read", HTTPMethod.DELETE: "delete"}
"""How Azure's own log of activities calls what is done, by method."""


@dataclass(frozen=True)
class Request:
    """One request.

    Parameters
    ----------
    method
        PUT, GET, DELETE or POST.
    id
        Of what it is about, without the action of a POST.
    action
        Of a POST, such as ``listClusterUserCredential``; else empty.
    version
        Of the API.
    query, body
        Without that version. The body of a GET is empty.
    address
        Where the server was reached, such as ``http://127.0.0.1:40123``.
    outcome
        What becomes of the work that it begins.
    """

    method: HTTPMethod
    id: ArmId
    action: str
    version: str
    query: Mapping[str, str]
    body: dict[str, Any]
    address: str
    outcome: FaultOutcome = field(default=AS_USUAL)

    @property
    def operation(self) -> str:
        """As Azure's log of activities has it, such as ``Microsoft.Network/natGateways/write``."""
        return f"{self.id.type}/{self.action}/action" if self.action else f"{self.id.type}/{VERBS[self.method]}"

    @property
    def about(self) -> str:
        """The ARM id."""
        return self.id.text

    @property
    def params(self) -> dict[str, Any]:
        """The whole request."""
        return {"query": dict(self.query), "body": self.body}


def read(environ: Environ) -> Request:
    """Read a request.

    Raises
    ------
    Refusal
        It is none that ARM understands.
    """
    # Only the raw path tells a slash inside a name from one between two.
    path, _, query = str(environ["REQUEST_URI"]).partition("?")
    given = dict(parse_qsl(query, keep_blank_values=True))
    method = environ["REQUEST_METHOD"]
    if method not in (*VERBS, HTTPMethod.POST):
        raise Refusal("MethodNotAllowed", 405, f"The Azure emulator has no {method}.")
    version = given.pop("api-version", "")
    if not version:
        told = "The api-version query parameter (?api-version=) is required for all requests."
        raise Refusal("MissingApiVersionParameter", 400, told)
    if not VERSION.fullmatch(version):
        raise Refusal("InvalidApiVersionParameter", 400, f"The api-version '{version}' is invalid.")
    whole, action = ArmId(unquote(path).rstrip("/")), ""
    if not re.match(r"/subscriptions/[^/]+", whole.key):
        raise Refusal("InvalidResourceId", 400, f"The Azure emulator has nothing at '{path}'.")
    if method == HTTPMethod.POST:
        whole, action = whole.above, whole.text.rpartition("/")[2]
    if not (whole.is_whole or method == HTTPMethod.GET):
        raise Refusal("InvalidRequestUri", 400, f"{method} needs the id of one resource, given '{path}'.")
    address = f"{environ['wsgi.url_scheme']}://{environ['HTTP_HOST']}"
    return Request(HTTPMethod(method), whole, action, version, given, _body(environ), address)


def _body(environ: Environ) -> dict[str, Any]:
    raw = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    try:
        body = json.loads(raw or b"{}")
    except ValueError as error:
        raise Refusal("InvalidRequestContent", 400, f"The request content was invalid: {error}.") from None
    if not isinstance(body, dict):
        raise Refusal("InvalidRequestContent", 400, "The request content must be a JSON object.")
    return body
