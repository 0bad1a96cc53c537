"""What goes back over the wire: answers and errors, as each protocol writes them."""

import base64
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import uuid4
from xml.sax.saxutils import escape

from botocore.model import ListShape, MapShape, OperationModel, Shape, StructureShape
from botocore.parsers import create_parser
from moto.core.serialize import EC2Serializer, SerializationContext
from moto.core.utils import get_service_model

from emulators.core.answers import Answer
from emulators.core.refusal import Refusal

JSON_TYPES = {"json": "application/x-amz-json-1.1", "rest-json": "application/json"}
"""Content type by protocol."""


def success(protocol: str, operation: OperationModel, members: Mapping[str, Any]) -> Answer:
    """Return an answer of EC2, or of a service that speaks JSON."""
    if protocol == "ec2":
        model = get_service_model("ec2").operation_model(operation.name)  # moto's shapes, not botocore's
        made = EC2Serializer(model, SerializationContext(str(uuid4()))).serialize(members)
        return Answer(made["status_code"], dict(made["headers"]), str(made["body"]).encode())
    body = json.dumps(_plain(members, operation.output_shape) if operation.output_shape else {})
    return Answer(200, {"Content-Type": JSON_TYPES[protocol], "x-amzn-RequestId": str(uuid4())}, body.encode())


def members_of(protocol: str, operation: OperationModel, answer: Answer) -> dict[str, Any]:
    """Return the members of an answer as boto3 will read them; for an error ``Error`` with its code."""
    headers = {name.lower(): value for name, value in answer.headers.items()}
    raw = {"status_code": answer.status, "headers": headers, "body": answer.body}
    members: dict[str, Any] = create_parser(protocol).parse(raw, operation.output_shape)
    members.pop("ResponseMetadata", None)
    return members


def refusal(protocol: str, error: Refusal) -> Answer:
    """Return an error of AWS.

    Parameters
    ----------
    protocol
        How the service writes its answers.
    """
    request = str(uuid4())
    code, message = escape(error.code), escape(error.message)
    if protocol == "ec2":
        inner = f"<Errors><Error><Code>{code}</Code><Message>{message}</Message></Error></Errors>"
        body, kind = f"<Response>{inner}<RequestID>{request}</RequestID></Response>", "text/xml"
    elif protocol == "query":
        fault = "Sender" if error.status < 500 else "Receiver"
        inner = f"<Error><Type>{fault}</Type><Code>{code}</Code><Message>{message}</Message></Error>"
        body, kind = f"<ErrorResponse>{inner}<RequestId>{request}</RequestId></ErrorResponse>", "text/xml"
    else:
        body, kind = json.dumps({"__type": error.code, "message": error.message}), JSON_TYPES[protocol]
    headers = {"Content-Type": kind, "x-amzn-RequestId": request, "x-amzn-ErrorType": error.code}
    return Answer(error.status, headers, body.encode())


def _plain(value: Any, shape: Shape) -> Any:
    if isinstance(shape, StructureShape):
        present = {name: inner for name, inner in value.items() if inner is not None}
        return {
            shape.members[name].serialization.get("name", name): _plain(inner, shape.members[name])
            for name, inner in present.items()
        }
    if isinstance(shape, ListShape):
        return [_plain(each, shape.member) for each in value]
    if isinstance(shape, MapShape):
        return {key: _plain(each, shape.value) for key, each in value.items()}
    if isinstance(value, datetime):
        return value.timestamp()
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return value
