"""Offline stand-in for Pulumi's azure-native plug-in: plans with dated provider facts and creates nothing.

What the plug-in does is read from pulumi/pulumi-azure-native: ``provider/pkg/provider/provider.go`` and ``diff.go``,
``provider/pkg/resources/resources.go`` (names) and ``provider/pkg/convert/previewOutputs.go``.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, Literal, TypeAlias
from uuid import UUID

from pulumi.runtime.proto.provider_pb2 import PropertyDiff
from typing_extensions import override

from workbench.offline.azure.facts import facts, resource
from workbench.offline.azure.inputs import TABLE, azures_own, children, names
from workbench.offline.azure.models import judge
from workbench.offline.azure.planning import planned
from workbench.offline.facts import Input
from workbench.offline.properties import UNKNOWN
from workbench.offline.provider import FORCED, Changed, Checked, Kind, Problem, Provider

PACKAGE: Final = "azure-native"

API_VERSION: Final = "azureApiVersion"
"""Input and output in which the plug-in notes the version of the API."""

LIST_CREDENTIALS: Final = "azure-native:containerservice:listManagedClusterUserCredentials"
"""The one function that our programs call."""

RANDOM_LENGTH: Final = 8
"""Characters of the random end of an automatic name."""

NOWHERE: Final = "-"
"""Path of values that are not inputs, such as map keys."""

STABLE: Final = ("name", "location")
"""Outputs that stay known while a resource is updated; the plug-in assumes that all others may change."""

SKUS: Final = ({"Basic": "Base", "Base": "Base"}, {"Paid": "Standard", "Standard": "Standard"})
"""Names and tiers of an AKS cluster's ``sku`` that mean the same."""


_Changes: TypeAlias = Iterator[tuple[str, Kind]]


class OfflineAzure(Provider):
    """Checks and compares inputs of Azure resources without an account."""

    def __init__(self) -> None:
        super().__init__(
            PACKAGE,
            facts().release,
            f"Offline stand-in for Pulumi's Azure provider (facts of {facts().read_on}). It creates nothing.",
        )
        self._location: Any = None

    @override
    def configure(self, config: dict[str, Any]) -> None:
        self._location = config.get("location")

    def location_of(self, group: str) -> str | None:  # noqa: ARG002 for those who can ask
        """Return the location of a resource group; None if unknown."""
        return None

    @override
    def check(self, type_: str, name: str, inputs: dict[str, Any], *, seed: bytes, kept: dict[str, Any]) -> Checked:
        if type_ not in facts().resources:
            return Checked((Problem("", f"the offline provider does not know {type_}: add it to {TABLE}"),))
        filled = self._filled(type_, name, inputs, seed=seed, kept=kept)
        verdict = judge(type_, {**inputs, **filled})
        ordered = tuple(sorted(verdict.problems, key=lambda problem: problem.path))
        return Checked(ordered, filled, {API_VERSION: resource(type_).api_version}, verdict.figures)

    def _filled(
        self, type_: str, name: str, inputs: Mapping[str, Any], *, seed: bytes, kept: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return the inputs that the plug-in adds: the last part of the id and the location."""
        known, own = children(type_, ""), names(type_)[-1]
        filled = {} if own in inputs else {own: kept.get(own) or _automatic_name(type_, name, seed)}
        if "location" in known and "location" not in inputs:
            group = inputs.get("resourceGroupName")
            of_group = self.location_of(group) if isinstance(group, str) else group
            found = kept.get("location") or self._location or of_group
            filled |= {"location": found} if found else {}
        return filled

    @override
    def compare(self, type_: str, old: dict[str, Any], new: dict[str, Any], *, filled: frozenset[str]) -> Changed:
        return planned(type_, self.difference(type_, old, new, filled=filled), new)

    def difference(self, type_: str, old: dict[str, Any], new: dict[str, Any], *, filled: frozenset[str]) -> Changed:
        """Return the change as the plug-in plans it, without querying Azure; parameters as in ``compare``."""
        both = ({n: v for n, v in each.items() if not _same(type_, n, old.get(n), new.get(n))} for each in (old, new))
        kinds = dict(_changes(type_, "", "", *both))
        # Only with random names can two of them exist at the same time.
        return Changed(kinds, delete_first=not (naming(type_) != "copy" and names(type_)[-1] in filled))

    @override
    def foreseen(self, type_: str, inputs: dict[str, Any], outputs: dict[str, Any]) -> dict[str, Any]:
        known = children(type_, "")
        repeated = {n: _foreseen(type_, known.get(n), v) for n, v in inputs.items() if n in known or n == API_VERSION}
        body = {n: value for n, value in repeated.items() if n == API_VERSION or not known[n].is_in_id}
        return {**body, **{n: outputs[n] for n in STABLE if n in outputs}}


def naming(type_: str) -> Literal["uuid", "random", "copy"]:
    """Return how the plug-in names resources of a type: UUID, random suffix, or the logical name."""
    if names(type_)[-1] == "roleAssignmentName":
        return "uuid"
    _, microsoft, of_service = resource(type_).id.rpartition("Microsoft.")
    return "random" if not microsoft or of_service.count("{") == 1 else "copy"


def _automatic_name(type_: str, name: str, seed: bytes) -> str:
    random = hashlib.sha256(seed + type_.encode() + name.encode()).hexdigest()
    endings = {"uuid": str(UUID(random[:32])), "random": f"{name}{random[:RANDOM_LENGTH]}", "copy": name}
    return endings[naming(type_)]


# --- Comparing --------------------------------------------------------------------------------------------------------


def _same(type_: str, name: str, old: Any, new: Any) -> bool:
    """Return whether two different values of an input are equal to Azure."""
    if name == "location" and isinstance(old, str) and isinstance(new, str):
        return _plain_location(old) == _plain_location(new)
    if name == "resourceGroupName" and isinstance(old, str) and isinstance(new, str):
        return old.lower() == new.lower()
    if name == "sku" and type_.endswith(":ManagedCluster") and isinstance(old, dict) and isinstance(new, dict):
        return _plain_sku(old) == _plain_sku(new)
    return False


def _plain_location(location: str) -> str:
    return location.replace(" ", "").lower()


def _plain_sku(sku: Mapping[str, Any]) -> dict[str, Any]:
    alike = dict(zip(("name", "tier"), SKUS, strict=True))
    return {key: alike.get(key, {}).get(value, value) for key, value in sku.items()}


def _changes(type_: str, fact: str, path: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> _Changes:
    """Return the kind of change by path, to the depth that both sides share."""
    known = children(type_, fact)
    for key in sorted(old.keys() | new.keys()):
        where = f"{path}.{key}" if path else key
        if key not in new or key not in old:
            kind = PropertyDiff.DELETE if key in old else PropertyDiff.ADD
            yield where, FORCED[kind] if _replaces(known.get(key)) else kind
        else:
            yield from _change(type_, known.get(key), where, old[key], new[key])


def _change(type_: str, known: Input | None, path: str, old: Any, new: Any) -> _Changes:
    if old == new:
        return
    if isinstance(old, dict) and isinstance(new, dict):
        for where, kind in _changes(type_, known.path if known else NOWHERE, path, old, new):
            # Updated members of a replacing object force a replacement; added and removed ones do not.
            yield where, FORCED[kind] if _replaces(known) and kind == PropertyDiff.UPDATE else kind
    elif isinstance(old, list) and isinstance(new, list):
        for index, (before, after) in enumerate(zip(old, new, strict=False)):
            yield from _change(
                type_, replace(known, change="update") if known else None, f"{path}[{index}]", before, after
            )
        yield from ((f"{path}[{index}]", PropertyDiff.ADD) for index in range(len(old), len(new)))
        yield from ((f"{path}[{index}]", PropertyDiff.DELETE) for index in range(len(new), len(old)))
    else:
        yield path, FORCED[PropertyDiff.UPDATE] if _replaces(known) else PropertyDiff.UPDATE


def _replaces(known: Input | None) -> bool:
    return known is not None and known.change == "replace"


# --- Foreseeing -------------------------------------------------------------------------------------------------------


def _foreseen(type_: str, known: Input | None, value: Any) -> Any:
    """Return the planned output of an input; members that the program leaves to Azure are unknown."""
    if known is None:
        return value
    if known.kind == "keys":
        return UNKNOWN
    if known.kind == "list" and isinstance(value, list):
        return [_foreseen_inside(type_, known, element) for element in value]
    if known.kind == "map" and isinstance(value, dict):
        return {key: _foreseen_inside(type_, known, element) for key, element in value.items()}
    return _foreseen_inside(type_, known, value) if known.kind == "object" else value


def _foreseen_inside(type_: str, known: Input, value: Any) -> Any:
    inner = children(type_, known.path)
    if not inner or not isinstance(value, dict):
        return value
    unset = (inner.keys() | azures_own(type_, known.path)) - value.keys()
    return {n: _foreseen(type_, inner.get(n), v) for n, v in value.items()} | dict.fromkeys(unset, UNKNOWN)


PROVIDER: Final = OfflineAzure
