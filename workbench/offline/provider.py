"""Python interface of a provider plug-in, independent of the engine's protocol; ``plugin`` serves it.

By default a provider only plans: it checks and compares inputs, and refuses to read or change anything. One that
manages resources overrides ``create``, ``read``, ``update`` and ``delete``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn, TypeAlias

from pulumi.runtime.proto.provider_pb2 import PropertyDiff

Kind: TypeAlias = PropertyDiff.Kind.ValueType
"""Kind of change to one input: added, updated or deleted, in place or by replacing the resource."""

FORCED: Final[dict[Kind, Kind]] = {
    PropertyDiff.ADD: PropertyDiff.ADD_REPLACE,
    PropertyDiff.DELETE: PropertyDiff.DELETE_REPLACE,
    PropertyDiff.UPDATE: PropertyDiff.UPDATE_REPLACE,
}
"""Replacing variant of each kind of change."""


@dataclass(frozen=True)
class Problem:
    """One invalid input."""

    path: str
    reason: str


@dataclass(frozen=True)
class Checked:
    """Result of checking one resource's inputs.

    Parameters
    ----------
    problems
        Invalid inputs; if there are any, nothing is planned.
    filled
        Inputs that the program left out and the provider filled in.
    added
        Inputs that the provider computes at every check and programs never set.
    note
        Counts for the journal.
    """

    problems: tuple[Problem, ...] = ()
    filled: dict[str, Any] = field(default_factory=dict)
    added: dict[str, Any] = field(default_factory=dict)
    note: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Changed:
    """Effect of a resource's new inputs.

    Parameters
    ----------
    kinds
        Kind of change by path of the input.
    delete_first
        Whether a replacement must delete the old resource first.
    warnings
        Changes of inputs that the plan does not make; printed with the resource.
    """

    kinds: dict[str, Kind] = field(default_factory=dict)
    delete_first: bool = False
    warnings: tuple[str, ...] = ()

    @property
    def replaces(self) -> list[str]:
        """Paths that force a replacement."""
        return [path for path, kind in self.kinds.items() if kind in FORCED.values()]


@dataclass(frozen=True)
class Existing:
    """A resource in the state.

    Parameters
    ----------
    type_, name
        Type token and logical name.
    id
        The provider's id. For an import nothing else is known.
    inputs, outputs
        Values from the last deployment or refresh.
    """

    type_: str
    name: str
    id: str
    inputs: dict[str, Any] = field(default_factory=dict)
    outputs: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ReadResult:
    """A live resource.

    Parameters
    ----------
    inputs
        Inputs that would create it in its current form.
    outputs
        All outputs, including those that repeat inputs.
    id
        Canonical id, if an import used another one. Default: the requested id.
    """

    inputs: dict[str, Any]
    outputs: dict[str, Any]
    id: str = ""


class RefusedError(Exception):
    """The plug-in does not support the operation; the text says what to do instead."""


class CloudError(Exception):
    """The cloud refused or did not answer; the text matches the real plug-in's. In a plan: it would refuse."""


class PartlyMadeError(Exception):
    """A resource was created or updated only partially; the state keeps it with the reasons.

    Parameters
    ----------
    id
        Id of the resource.
    outputs
        Its known outputs.
    reasons
        Error messages; at least one.
    """

    def __init__(self, id: str, outputs: dict[str, Any], reasons: tuple[str, ...]) -> None:  # noqa: A002 the engine's word
        super().__init__("; ".join(reasons))
        self.id, self.outputs, self.reasons = id, outputs, reasons


@dataclass(frozen=True)
class Provider:
    """Behaviour of one package's plug-in.

    Parameters
    ----------
    name
        The package, such as ``aws``.
    version
        Release of the real plug-in that this one replaces.
    description
        One sentence for the plug-in's own description.
    place
        Configuration keys of the account or region; changing one replaces all resources.
    """

    name: str
    version: str
    description: str
    place: frozenset[str] = frozenset()

    def configure(self, config: dict[str, Any]) -> None:
        """Set the provider's own configuration; unknown values are ``UNKNOWN``."""

    def moved(self, old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
        """Return the changed configuration keys that replace all resources."""
        return sorted(key for key in self.place if old.get(key) != new.get(key))

    def check(self, type_: str, name: str, inputs: dict[str, Any], *, seed: bytes, kept: dict[str, Any]) -> Checked:
        """Check a resource's inputs.

        Parameters
        ----------
        type_, name
            Type token and logical name.
        inputs
            Inputs from the program; unknown values are ``UNKNOWN``.
        seed
            Random seed, constant for a resource within a run.
        kept
            Values that earlier checks filled in, by input, if the resource exists.
        """
        raise NotImplementedError

    def compare(self, type_: str, old: dict[str, Any], new: dict[str, Any], *, filled: frozenset[str]) -> Changed:
        """Return the effect of a change of inputs.

        Parameters
        ----------
        old, new
            Inputs of the last deployment and of this one.
        filled
            Inputs that the check filled in, not the program.

        Raises
        ------
        CloudError
            The cloud would refuse the change.
        """
        raise NotImplementedError

    def create(self, type_: str, name: str, inputs: dict[str, Any]) -> tuple[str, dict[str, Any]]:  # noqa: ARG002 for those who make
        """Create a resource; return its id and all outputs, including those that repeat inputs.

        Raises
        ------
        CloudError
            Nothing was created, as far as the cloud reported.
        PartlyMadeError
            The resource exists but is incomplete.
        """
        self._refuse(f"create {name} ({type_})")

    def read(self, resource: Existing) -> ReadResult | None:
        """Read a resource for a refresh or an import; None if it does not exist."""
        self._refuse(f"read {resource.name} ({resource.type_})")

    def update(self, resource: Existing, inputs: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG002 for those who change
        """Update a resource in place; return all outputs, including those that repeat inputs.

        Raises
        ------
        CloudError
            The resource is unchanged.
        PartlyMadeError
            The change may have been applied partially.
        """
        self._refuse(f"update {resource.name} ({resource.type_})")

    def delete(self, resource: Existing) -> None:
        """Delete a resource; succeeds if it no longer exists."""
        self._refuse(f"delete {resource.name} ({resource.type_})")

    def foreseen(self, type_: str, inputs: dict[str, Any], outputs: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG002 for providers that know more
        """Return the outputs that a preview can predict; all others are unknown.

        Default: the old outputs overlaid with the inputs, so that dependents do not appear changed.

        Parameters
        ----------
        inputs
            Planned inputs.
        outputs
            Current outputs; empty if the resource does not exist.
        """
        return {**outputs, **inputs}

    def invoke(self, token: str, arguments: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG002 for those who answer
        """Call a function (data source) and return its result."""
        self._refuse(f"call {token}")

    def _refuse(self, what: str) -> NoReturn:
        raise RefusedError(
            f"the offline provider '{self.name}' only plans and cannot {what}: "
            "use the real plug-in with credentials, and avoid data sources in the program"
        )
