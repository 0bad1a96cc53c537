"""The AWS provider that really makes things, on an AWS emulator: it plans by the same facts as the offline one."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from typing_extensions import override

from emulators.aws.resources import KINDS
from emulators.aws.resources.answers import same_document
from emulators.aws.resources.connection import ApiError, Aws
from emulators.aws.resources.kinds import Kind, with_defaults
from emulators.aws.resources.resource_handler import ResourceHandler
from workbench.offline.aws.facts import resource
from workbench.offline.aws.provider import OfflineAws
from workbench.offline.properties import Unknown
from workbench.offline.provider import Changed, CloudError, Existing, ReadResult, RefusedError

DEFAULT_REGION: Final = "eu-west-1"


class AwsEmulator(OfflineAws):
    """Makes, reads, changes and deletes AWS resources through AWS's API, at an address on loopback."""

    def __init__(self) -> None:
        super().__init__()
        self._aws: Aws | None = None
        self._region = DEFAULT_REGION

    @override
    def configure(self, config: dict[str, Any]) -> None:
        super().configure(config)
        region = config.get("region")
        self._region = region if isinstance(region, str) else DEFAULT_REGION
        allowed = _listed(config.get("allowedAccountIds"))
        if allowed:
            try:
                account = self._connected().account
            except ApiError as error:
                raise CloudError(f"retrieving AWS account details: {error}") from error
            if account not in allowed:
                raise CloudError(f"AWS account ID not allowed: {account}")

    @override
    def compare(self, type_: str, old: dict[str, Any], new: dict[str, Any], *, filled: frozenset[str]) -> Changed:
        old, new = (with_defaults(each, resource(type_).defaults) for each in (old, new))
        return super().compare(type_, _without_zeros(old, new), new, filled=filled)

    @override
    def create(self, type_: str, name: str, inputs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        return self._life(type_).make(inputs)

    @override
    def read(self, resource: Existing) -> ReadResult | None:
        found = self._life(resource.type_).find(resource)
        if found and not resource.inputs:  # an import: the check adds what it always adds
            return replace(found, inputs={**found.inputs, **self.all_tags(resource.type_, found.inputs)})
        return found

    @override
    def update(self, resource: Existing, inputs: dict[str, Any]) -> dict[str, Any]:
        return self._life(resource.type_).change(resource, inputs)

    @override
    def delete(self, resource: Existing) -> None:
        self._life(resource.type_).remove(resource)

    def _life(self, type_: str) -> ResourceHandler:
        tags = self.tags_of({})
        if isinstance(tags, Unknown):
            raise CloudError("default tags of the provider are not known yet")
        return ResourceHandler(self._connected(), type_, _kind(type_), tags)

    def _connected(self) -> Aws:
        if self._aws is None:
            self._aws = Aws(self._region)
        return self._aws


def _kind(type_: str) -> Kind:
    if type_ not in KINDS:
        raise RefusedError(f"the AWS emulator cannot make {type_}: describe it in tests/emulators/aws/resources/")
    return KINDS[type_]


def _listed(value: Any) -> list[str]:
    # Configuration of providers arrives as text.
    listed = json.loads(value) if isinstance(value, str) else value
    return [str(each) for each in listed] if isinstance(listed, list) else []


def _without_zeros(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Return old inputs without those that the program leaves out and that were the zero of their kind."""
    kept: dict[str, Any] = {}
    for name, value in old.items():
        wanted = new.get(name)
        if wanted is None and value in (False, 0, ""):
            continue
        if isinstance(value, dict) and isinstance(wanted, dict):
            kept[name] = _without_zeros(value, wanted)
        else:
            kept[name] = wanted if same_document(value, wanted) else value
    return kept
