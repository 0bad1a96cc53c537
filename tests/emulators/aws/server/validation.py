"""Refuses what the model of an operation does not allow, as AWS does before it checks anything else."""

from collections.abc import Iterator
from typing import Any

from botocore.model import ListShape, MapShape, Shape, StructureShape
from botocore.validate import ParamValidator

from workbench.offline.aws.models import wrong


def problems(params: dict[str, Any], shape: StructureShape | None) -> list[str]:
    """Return everything that is wrong with the members of a request or of an answer."""
    if shape is None:
        return [f"takes no members, given {', '.join(params)}"] if params else []
    report = ParamValidator().validate(params, shape)
    if report.has_errors():
        return str(report.generate_report()).splitlines()
    return [*_values(params, shape, "")]


def _values(value: Any, shape: Shape, path: str) -> Iterator[str]:
    """Report texts and numbers outside of what the model lists; botocore leaves that to AWS."""
    if isinstance(shape, StructureShape):
        for name, inner in value.items():
            yield from _values(inner, shape.members[name], f"{path}.{name}" if path else name)
    elif isinstance(shape, ListShape):
        for index, element in enumerate(value):
            yield from _values(element, shape.member, f"{path}[{index}]")
    elif isinstance(shape, MapShape):
        for key, inner in value.items():
            yield from _values(key, shape.key, f"{path}[{key!r}]")
            yield from _values(inner, shape.value, f"{path}[{key!r}]")
    elif reason := wrong(shape, value):
        yield f"{path} {reason}"
