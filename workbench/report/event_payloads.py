"""Payloads of the engine's events: https://github.com/pulumi/pulumi/blob/master/sdk/go/common/apitype/events.go."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel


class Payload(BaseModel):
    """Base of all event payloads; ignores unknown keys, which vary between engine releases."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore", alias_generator=to_camel)


def _or_empty(value: Any) -> Any:
    return {} if value is None else value  # how Go writes an empty map


_Properties = Annotated[dict[str, Any], BeforeValidator(_or_empty)]


class State(Payload):
    """A resource before or after a step."""

    urn: str
    custom: bool = False
    """False for a component resource."""
    delete: bool = False
    """Replaced and still to be deleted."""
    protect: bool = False
    inputs: _Properties
    outputs: _Properties


class PropertyDiff(Payload):
    """Kind of a property's difference."""

    kind: Literal["add", "add-replace", "delete", "delete-replace", "update", "update-replace"] = Field(
        alias="diffKind"
    )


Op = Literal[
    "same",
    "create",
    "update",
    "delete",
    "replace",
    "create-replacement",
    "delete-replaced",
    "read",
    "read-replacement",
    "refresh",
    "discard",
    "discard-replaced",
    "remove-pending-replace",
    "import",
    "import-replacement",
]
"""Operations of the engine."""


class Step(Payload):
    """A planned or finished step of the engine."""

    op: Op
    urn: Annotated[str, Field(pattern=r"^urn:pulumi:[^:]+::[^:]+::[^:].*?::.")]
    type: str
    old: State | None
    new: State | None
    keys: list[str] | None = None
    """Properties that force a replacement."""
    diffs: list[str] | None = None
    """Properties that differ, if the provider reports no details."""
    detailed_diff: dict[str, PropertyDiff] | None = None
    """Differences by path."""

    @property
    def stack(self) -> str:
        """Name of the stack."""
        return self.urn.split("::", 1)[0].removeprefix("urn:pulumi:")

    @property
    def token(self) -> str:
        """Type token from the URN."""
        return self.urn.split("::", 3)[2].rpartition("$")[2]

    @property
    def name(self) -> str:
        """Logical name."""
        return self.urn.split("::", 3)[3]

    @property
    def is_component(self) -> bool:
        """Whether it is a component resource or the stack itself."""
        return not any(state.custom for state in (self.old, self.new) if state)


class StepEvent(Payload):
    """A step of the engine."""

    metadata: Step


class Diagnostic(Payload):
    """A message from the engine, a provider or the program."""

    urn: str = ""
    message: str
    severity: str


class PolicyMessage(Payload):
    """A policy violation of a resource or the stack."""

    resource_urn: str = ""
    message: str
    policy_name: str
    policy_pack_name: str
    enforcement_level: str


class Remediation(Payload):
    """A rule remediated a resource."""

    resource_urn: str = ""
    policy_name: str


class Judged(Payload):
    """The rules of a pack that evaluated a resource or the stack."""

    resource_urn: str = ""
    policy_pack_name: str
    passed: list[str] = []
    failed: list[str] = []


class Prelude(Payload):
    """The engine's first event: the stack's configuration."""

    config: dict[str, str]


class Summary(Payload):
    """The engine's summary of its run."""

    maybe_corrupt: bool = False
    is_preview: bool
    result: str
    policy_packs: Annotated[dict[str, str], BeforeValidator(_or_empty)] = Field({}, alias="PolicyPacks")


class Failure(Payload):
    """An error outside of any resource."""

    error: str


class Unread(Payload):
    """An event without information about resources."""
