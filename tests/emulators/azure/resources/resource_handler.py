"""What happens to a resource from its first request to its last, whatever its type."""

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from emulators.azure.resources.connection import Arm, ArmError
from emulators.azure.resources.refreshing import refreshed
from workbench.offline.azure import shapes
from workbench.offline.azure.facts import facts, resource
from workbench.offline.azure.inputs import children
from workbench.offline.azure.provider import API_VERSION
from workbench.offline.provider import CloudError, Existing, PartlyMadeError, ReadResult, RefusedError


@dataclass(frozen=True)
class ResourceHandler:
    """Resources of one type in one subscription."""

    arm: Arm
    type_: str
    subscription: str

    @property
    def _version(self) -> str:
        return resource(self.type_).api_version

    def make(self, inputs: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """Make a resource, wait until Azure has it, and return its id and outputs."""
        id_ = shapes.id_of(self.type_, inputs, self.subscription)
        self._refuse_to_take_over(id_)
        body = shapes.body(self.type_, inputs)
        for name in self._kept(inputs):
            body.setdefault("properties", {})[name] = []
        answer = self._put(id_, body)
        id_ = str(answer.get("id") or id_)
        return id_, shapes.outputs(self.type_, self._after(id_, answer))

    def _refuse_to_take_over(self, id_: str) -> None:
        """Refuse to make what is there already, or a part of nothing that Azure makes with the whole.

        Source: ``CanCreate`` in provider.go.
        """
        there = self.arm.look(id_, self._version)
        if resource(self.type_).singleton:
            if there.status == HTTPStatus.NOT_FOUND:
                raise CloudError(f"parent resource does not exist for resource '{id_}'")
            if there.status == HTTPStatus.OK:
                return
        if there.status == HTTPStatus.OK and there.body:
            raise CloudError(f"cannot create already existing resource '{id_}'")
        if there.status != HTTPStatus.NOT_FOUND:
            raise CloudError(f"cannot check existence of resource '{id_}': {there.error}")

    def find(self, resource: Existing) -> ReadResult | None:
        """Return a resource as it is; None if it does not exist."""
        answer = self.arm.get(resource.id, self._version)
        if answer is None:
            return None
        outputs = shapes.outputs(self.type_, answer)
        if not resource.inputs:
            found = shapes.imported(self.type_, resource.id, answer)
            return ReadResult({**found, API_VERSION: self._version}, outputs)
        kept = self._kept(resource.inputs)
        now = shapes.projected(self.type_, {name: value for name, value in outputs.items() if name not in kept})
        before = shapes.projected(self.type_, resource.outputs)
        return ReadResult(refreshed(resource.inputs, before, now), outputs)

    def change(self, resource: Existing, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Give a resource new inputs, all of them in one request, and return its outputs."""
        self._refuse_taken_keys(resource.inputs, inputs)
        body = shapes.body(self.type_, inputs)
        if kept := self._kept(inputs):
            there = self.arm.get(resource.id, self._version) or {}
            has = there.get("properties") or {}
            body.setdefault("properties", {}).update({name: has[name] for name in kept if name in has})
        return shapes.outputs(self.type_, self._after(resource.id, self._put(resource.id, body)))

    def remove(self, resource: Existing) -> None:
        """Delete a resource and wait until it is gone; one that is gone already is fine.

        What Azure makes and removes with something else is set back instead.
        """
        if facts().resources[self.type_].singleton:
            self.arm.put(resource.id, self._version, {})
        else:
            self.arm.delete(resource.id, self._version)

    def _kept(self, inputs: Mapping[str, Any]) -> list[str]:
        """Return the lists of resources of their own that the program does not give."""
        return [name for name in resource(self.type_).kept if name not in inputs]

    def _put(self, id_: str, body: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return self.arm.put(id_, self._version, body)
        except ArmError as error:
            if not error.begun:
                raise
            outputs, reason = self._partly(id_, str(error))
            raise PartlyMadeError(id_, outputs, (reason,)) from error

    def _partly(self, id_: str, reason: str) -> tuple[dict[str, Any], str]:
        """Return what is known of a resource that Azure began and did not finish, and why."""
        there = self.arm.look(id_, self._version)
        if there.status == HTTPStatus.OK:
            return shapes.outputs(self.type_, there.body), reason
        return {}, f"resource created but read failed {there.error}: {reason}"

    def _after(self, id_: str, answer: dict[str, Any]) -> dict[str, Any]:
        """Return a resource as a look after the request shows it, or as the request did if there is none."""
        there = self.arm.look(id_, self._version)
        return there.body if there.status == HTTPStatus.OK else answer

    def _refuse_taken_keys(self, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
        """Refuse to take identities away: the plug-in does it with a PATCH that the server does not know."""
        for outer in (name for name in children(self.type_, "") if isinstance(old.get(name), dict)):
            inner = (name for name, known in children(self.type_, outer).items() if known.kind == "keys")
            taken = {key for name in inner for key in set(old[outer].get(name) or ()) - set(new[outer].get(name) or ())}
            if taken:
                raise RefusedError(
                    f"the Azure emulator does not take {', '.join(sorted(taken))} away from {self.type_}"
                )
