"""The base of stack files: settings of an organisation that stack files refine.

A stack file with ``base: acme`` refines ``Base.acme.yaml`` in the same folder. The base has layers, each for stacks of
some environments and kinds of clusters. Those that apply to a stack are merged in their order, then the stack file.

Merging is that of JSON Merge Patch (https://www.rfc-editor.org/rfc/rfc7396), which Pulumi's own environments use too:
mappings merge key by key, any other value replaces, and null removes what was inherited. The engine's project file
cannot do it: a stack's key replaces the project's as a whole (pulumi v3.259.0, pkg/workspace/config.go, mergeConfig).
"""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import Field, field_validator

from components.contract.choices import ContractModel, Explained, Findings
from components.contract.environments import ClusterKind, Environment

BASE_KEY: Final = "base"
"""Key of a stack's settings that names its base."""

_OF_ONE_STACK: Final = (
    ("schemaVersion",),
    (BASE_KEY,),
    ("environment",),
    ("cluster", "kind"),
    ("cluster", "name"),
    ("cluster", "clusterId"),
)
"""Settings that cannot be inherited: they identify the cluster and select the layers that apply."""


class Layer(ContractModel):
    """Settings for the stacks of some environments and kinds, or for all."""

    environments: Annotated[tuple[Environment, ...] | None, Explained("They apply to all environments.")] = Field(
        None, min_length=1, description="Environments whose stacks use these settings.", examples=[["prod"]]
    )
    kinds: Annotated[tuple[ClusterKind, ...] | None, Explained("They apply to all kinds.")] = Field(
        None, min_length=1, description="Kinds of clusters whose stacks use these settings.", examples=[["eks", "aks"]]
    )
    settings: dict[str, Any] = Field(
        json_schema_extra={"x-kind": "mapping with settings as in a stack file"},
        description="Settings as in a stack file; keys that are required there may be missing.",
        examples=[{"policies": {"requiredTags": ["team", "cost-center"]}}],
    )

    @field_validator("settings", mode="after")
    @classmethod
    def _can_be_inherited(cls, settings: dict[str, Any]) -> dict[str, Any]:
        findings = Findings()
        for path in _OF_ONE_STACK:
            if has(settings, path):
                findings.add("belongs to one stack and cannot be inherited; set it in the stack files", *path)
        findings.raise_if_any()
        return settings

    @property
    def stacks(self) -> str:
        """The stacks that use it, such as ``eks, prod``; empty for all."""
        return ", ".join((*(self.kinds or ()), *(self.environments or ())))

    def fits(self, settings: Mapping[str, Any]) -> bool:
        """Return whether this layer applies to a stack.

        With an unknown environment or kind every layer applies, so that only this mistake is reported.
        """
        cluster = settings.get("cluster")
        kind = cluster.get("kind") if isinstance(cluster, Mapping) else None
        rows = ((self.environments, settings.get("environment"), Environment), (self.kinds, kind, ClusterKind))
        return all(chosen is None or given in chosen or given not in list(known) for chosen, given, known in rows)


class BaseFile(ContractModel):
    """A base: the whole content of ``Base.NAME.yaml``."""

    schema_version: Literal[1] = Field(description="Version of this format.", examples=[1])
    layers: tuple[Layer, ...] = Field(
        min_length=1,
        description="Settings by the stacks that use them; a later layer refines those before it.",
        examples=[[{"settings": {"policies": {"admission": "warn"}}}]],
    )


def merged(below: Any, above: Any) -> Any:
    """Return ``below`` refined by ``above``; a null that removes nothing stays, to be validated like any value."""
    if not (isinstance(below, Mapping) and isinstance(above, Mapping)):
        return above
    result = dict(below)
    for key, value in above.items():
        if key not in below:
            result[key] = value
        elif value is None:
            del result[key]
        else:
            result[key] = merged(below[key], value)
    return result


def hides(document: Any, path: tuple[int | str, ...]) -> bool:
    """Return whether a value on the way to a path is not a mapping, and so replaces everything below it."""
    for part in path:
        if not isinstance(document, Mapping):
            return True
        if part not in document:
            return False
        document = document[part]
    return False


def has(document: Any, path: tuple[int | str, ...]) -> bool:
    """Return whether a document has a key or list item at a path."""
    for part in path:
        if isinstance(document, Mapping):
            if part not in document:
                return False
        elif not (isinstance(document, list) and isinstance(part, int) and part < len(document)):
            return False
        document = document[part]
    return True
