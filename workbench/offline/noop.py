"""Base of the no-op providers, which report success without doing anything."""

from typing import Any

from typing_extensions import override

from workbench.offline.provider import Existing, Provider, ReadResult


class NoopProvider(Provider):
    """Mixin for an offline provider: plans like it, and accepts every operation without performing it."""

    @override
    def create(self, type_: str, name: str, inputs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        return f"{name}-id", inputs

    @override
    def read(self, resource: Existing) -> ReadResult:
        return ReadResult(resource.inputs, resource.outputs)

    @override
    def update(self, resource: Existing, inputs: dict[str, Any]) -> dict[str, Any]:
        return {**resource.outputs, **inputs}

    @override
    def delete(self, resource: Existing) -> None:
        pass
