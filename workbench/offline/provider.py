"""What a provider plug-in is in Python, without the engine's protocol: ``plugin`` serves it.

A provider that does not say more only plans: it checks and compares inputs, and refuses to read or change anything.
One that really makes resources overrides ``create``, ``read``, ``update`` and ``delete``.
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
"""What each kind is of an input that replaces the resource."""


@dataclass(frozen=True)
class Problem:
    """One input that is wrong."""

    path: str
    reason: str


@dataclass(frozen=True)
class Checked:
    """What a check of one resource's inputs came to.

    Parameters
    ----------
    problems
        What is wrong; nothing is planned if there is any.
    filled
        Inputs that the provider adds because the program left them out.
    added
        Inputs that the provider adds at every check anew; no program gives them.
    note
        Figures for the journal.
    """

    problems: tuple[Problem, ...] = ()
    filled: dict[str, Any] = field(default_factory=dict)
    added: dict[str, Any] = field(default_factory=dict)
    note: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Changed:
    """What the new inputs of a resource mean for it.

    Parameters
    ----------
    kinds
        Kind of change by path of the input.
    delete_first
        The old resource must go before the new one is made; said only of a replacement.
    """

    kinds: dict[str, Kind] = field(default_factory=dict)
    delete_first: bool = False

    @property
    def replaces(self) -> list[str]:
        """Paths that make a replacement necessary."""
        return [path for path, kind in self.kinds.items() if kind in FORCED.values()]


@dataclass(frozen=True)
class Existing:
    """A resource as the state has it.

    Parameters
    ----------
    type_, name
        Type token and logical name.
    id
        As the provider gave it. Of an import it is all that is known.
    inputs, outputs
        Of the last deployment, or as the last refresh found them.
    """

    type_: str
    name: str
    id: str
    inputs: dict[str, Any] = field(default_factory=dict)
    outputs: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ReadResult:
    """A resource as it is.

    Parameters
    ----------
    inputs
        What the program would have to say to make it as it is.
    outputs
        All of them, those that repeat inputs too.
    id
        If an import asked by another name. Default: as asked.
    """

    inputs: dict[str, Any]
    outputs: dict[str, Any]
    id: str = ""


class RefusedError(Exception):
    """The plug-in does not do this; the text says what to do instead."""


class CloudError(Exception):
    """The cloud refused or did not answer; the text is what the real plug-in says."""


class PartlyMadeError(Exception):
    """A resource exists, but is not what was asked for: the state keeps it with the reasons.

    Parameters
    ----------
    id
        Of the resource.
    outputs
        What is known of it.
    reasons
        What went wrong, one text each; at least one.
    """

    def __init__(self, id: str, outputs: dict[str, Any], reasons: tuple[str, ...]) -> None:  # noqa: A002 the engine's word
        super().__init__("; ".join(reasons))
        self.id, self.outputs, self.reasons = id, outputs, reasons


@dataclass(frozen=True)
class Provider:
    """What one package's plug-in does.

    Parameters
    ----------
    name
        The package, such as ``aws``.
    version
        Release of the real plug-in that this one stands in for.
    description
        What it is, in a sentence; for people who ask the plug-in itself.
    place
        Configuration that says where everything is; a change replaces everything.
    """

    name: str
    version: str
    description: str
    place: frozenset[str] = frozenset()

    def configure(self, config: dict[str, Any]) -> None:
        """Take the provider's own configuration; unknown values as ``UNKNOWN``."""

    def moved(self, old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
        """Return the keys of the provider's own configuration whose change replaces everything."""
        return sorted(key for key in self.place if old.get(key) != new.get(key))

    def check(self, type_: str, name: str, inputs: dict[str, Any], *, seed: bytes, kept: dict[str, Any]) -> Checked:
        """Judge a resource's inputs.

        Parameters
        ----------
        type_, name
            Type token and logical name.
        inputs
            As the program gave them, unknown values as ``UNKNOWN``.
        seed
            Randomness that stays the same for the same resource in the same run.
        kept
            What earlier checks filled in, by input, if the resource exists.
        """
        raise NotImplementedError

    def compare(self, type_: str, old: dict[str, Any], new: dict[str, Any], *, filled: frozenset[str]) -> Changed:
        """Say what a change of inputs means.

        Parameters
        ----------
        old, new
            Inputs of the last deployment and of this one.
        filled
            Inputs that the check filled in, not the program.
        """
        raise NotImplementedError

    def create(self, type_: str, name: str, inputs: dict[str, Any]) -> tuple[str, dict[str, Any]]:  # noqa: ARG002 for those who make
        """Make a resource and return its id and its outputs, those that repeat inputs too.

        Raises
        ------
        CloudError
            Nothing was made, as far as the cloud said.
        PartlyMadeError
            It exists and is not whole.
        """
        self._refuse(f"create {name} ({type_})")

    def read(self, resource: Existing) -> ReadResult | None:
        """Look a resource up, for a refresh or an import; None if it does not exist."""
        self._refuse(f"read {resource.name} ({resource.type_})")

    def update(self, resource: Existing, inputs: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG002 for those who change
        """Give a resource new inputs in place and return its outputs, those that repeat inputs too.

        Raises
        ------
        CloudError
            It is as it was.
        PartlyMadeError
            Some of the change may have happened.
        """
        self._refuse(f"update {resource.name} ({resource.type_})")

    def delete(self, resource: Existing) -> None:
        """Delete a resource. One that is gone already is deleted."""
        self._refuse(f"delete {resource.name} ({resource.type_})")

    def foreseen(self, type_: str, inputs: dict[str, Any], outputs: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG002 for providers that know more
        """Return the outputs that a resource will have, as far as a preview can know; what is left out is not known.

        Default: the old ones with the inputs over them, or everything that depends on them would look changed.

        Parameters
        ----------
        inputs
            As they are planned.
        outputs
            As they are now; empty of a resource that does not exist.
        """
        return {**outputs, **inputs}

    def invoke(self, token: str, arguments: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG002 for those who answer
        """Answer a call of a function, also known as a data source."""
        self._refuse(f"call {token}")

    def _refuse(self, what: str) -> NoReturn:
        raise RefusedError(
            f"the offline provider '{self.name}' only plans, it cannot {what}: "
            "use the real plug-in with credentials, and no data source in the program"
        )
