"""Requests of AWS's API, made from a resource's inputs by the same table that judges them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from botocore.model import ListShape, MapShape, Shape, StructureShape

from workbench.offline.aws.inputs import children
from workbench.offline.aws.models import NUMBERS, alike, innermost, service_model
from workbench.offline.aws.operations import Request
from workbench.offline.provider import RefusedError


def members_of(type_: str, request: Request, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members of ``request`` with every input of a resource that goes into it.

    Parameters
    ----------
    inputs
        Plain values; those that go elsewhere are left out.

    Raises
    ------
    RefusedError
        Something inside an input has no place in the request.
    """
    shape = service_model(request.service).operation_model(request.operation).input_shape
    maker, members = _Maker(type_, request), dict[str, Any]()
    for name, value in inputs.items():
        if name in children(type_, "") and (place := _place(request, shape, name)):
            maker.put(members, shape, place, (name, value))
    return members


def takes(request: Request, name: str) -> bool:
    """Return whether an input of the resource goes into a request."""
    shape = service_model(request.service).operation_model(request.operation).input_shape
    return _place(request, shape, name) is not None


def _place(request: Request, shape: Shape, name: str) -> list[str] | None:
    """Return the path of members to where an input goes, None if it does not go into this request."""
    if name in request.members:
        return request.members[name].split(".")
    if request.inside is None:
        return None
    outer = request.inside.split(".") if request.inside else []
    for around in outer:
        shape = innermost(shape).members[around]
    member = alike(innermost(shape).members, name)
    return [*outer, member] if member else None


@dataclass(frozen=True)
class _Maker:
    """Gives inputs of one type the form of one request."""

    type_: str
    request: Request

    def put(self, target: dict[str, Any], shape: Shape, place: list[str], given: tuple[str, Any]) -> None:
        """Put an input, path and value, where ``place`` in ``target`` is."""
        head, *rest = place
        member = innermost(shape).members[head]
        if not rest:
            target[head] = self._formed(*given, member)
        elif isinstance(member, ListShape):
            self.put(target.setdefault(head, [{}])[0], member, rest, given)
        else:
            self.put(target.setdefault(head, {}), member, rest, given)

    def _formed(self, fact: str, value: Any, shape: Shape) -> Any:
        if isinstance(shape, ListShape):
            inner = shape.member
            if isinstance(value, Mapping) and not children(self.type_, fact) and isinstance(inner, StructureShape):
                return pairs(value, inner)
            # Where Terraform allows one object at most, Pulumi has the object itself.
            return [self._formed(fact, each, inner) for each in (value if isinstance(value, list) else [value])]
        if isinstance(shape, StructureShape):
            return self._structure(fact, value[0] if isinstance(value, list) else value, shape)
        if isinstance(shape, MapShape):
            return {key: str(inner) for key, inner in value.items()}
        return _scalar(value, shape)

    def _structure(self, fact: str, value: Mapping[str, Any], shape: StructureShape) -> dict[str, Any]:
        members: dict[str, Any] = {}
        for name, inner in value.items():
            known = children(self.type_, fact).get(name)
            named = self.request.members.get(known.path, "") if known else ""
            place = named.rpartition(".")[2] or alike(shape.members, name)
            if not known or not place:
                raise RefusedError(
                    f"the AWS emulator has no place for {name} of {fact} of {self.type_} in {self.request.operation}"
                )
            members[place] = self._formed(known.path, inner, shape.members[place])
        return members


def _scalar(value: Any, shape: Shape) -> Any:
    if shape.type_name == "boolean":
        return value in (True, "true")
    if shape.type_name in NUMBERS:
        return int(float(value)) if shape.type_name in ("integer", "long") else float(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def pairs(values: Mapping[str, Any], shape: StructureShape) -> list[dict[str, Any]]:
    """Return a map as the list of keys and values that AWS takes for it, tags most of the time."""
    key, value = (next(member for member in shape.members if member.endswith(end)) for end in ("Key", "Value"))
    return [{key: name, value: str(text)} for name, text in sorted(values.items())]
