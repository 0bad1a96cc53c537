"""Base of all stack file models: closed, documented, with checks that report all problems at once.

A check on one value raises ``ValueError``. A check that may find several problems, or one deep inside its value,
collects them in ``Findings``, so that each is reported at its own path.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, GetJsonSchemaHandler, ValidationError
from pydantic.alias_generators import to_camel
from pydantic_core import CoreSchema, InitErrorDetails, PydanticCustomError

FINDING: Final = "finding"
"""Type of the errors that ``Findings`` raises; their context holds ``message`` and ``allowed``."""

WHY_DEFAULT: Final = "x-why-default"
DECIDES: Final = "x-decides"
"""Keywords of the JSON Schema that hold the two texts of ``Explained``."""


class ContractModel(BaseModel):
    """A closed, immutable part of a stack file; YAML keys are camelCase.

    Cross-field checks are validators of the later field and read the earlier ones from ``info.data``. An invalid field
    is missing there, so one mistake neither hides nor causes another.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel, validate_default=True)


@dataclass(frozen=True, slots=True)
class Explained:
    """Facts that a choice's description omits: the reason for its default, and what it decides."""

    why_default: str = ""
    """Reason of the default; required for every field that has one."""

    decides: str = ""
    """Effects of the choice: what is derived from it."""

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Return the field's JSON Schema with both texts in it, for every reader of the schema."""
        texts = {WHY_DEFAULT: self.why_default, DECIDES: self.decides}
        return {**handler(core), **{key: text for key, text in texts.items() if text}}


class Findings:
    """Problems of one value, each at its own path inside it."""

    def __init__(self) -> None:
        self._details: list[InitErrorDetails] = []

    def add(self, message: str, *path: str | int, given: Any = None, allowed: tuple[str, ...] = ()) -> None:
        """Add a problem.

        Parameters
        ----------
        message
            What is wrong and what to do, preceded by the rule's id. ``given`` is shown with it.
        path
            Its place, relative to the value that the validator checks.
        given
            The invalid value; None shows nothing.
        allowed
            Valid values.
        """
        error = PydanticCustomError(FINDING, "{message}", {"message": message, "allowed": allowed})
        self._details.append(InitErrorDetails(type=error, loc=path, input=given))

    @contextmanager
    def collect(self) -> Iterator[None]:
        """Add the problems that the block's validation raises, instead of stopping at them."""
        try:
            yield
        except ValidationError as error:
            for detail in error.errors(include_url=False):
                kind, context = detail["type"], detail.get("ctx", {})
                error_type = PydanticCustomError(FINDING, "{message}", context) if kind == FINDING else kind
                again = InitErrorDetails(type=error_type, loc=detail["loc"], input=detail["input"], ctx=context)
                self._details.append(again)

    def raise_if_any(self) -> None:
        """Raise all collected problems, if there are any."""
        if self._details:
            raise ValidationError.from_exception_data("findings", self._details)


def one_of(known: tuple[str, ...], noun: str) -> tuple[AfterValidator, Any]:
    """Return the annotation that restricts a name to those ``known``, as a check and in the schema for editors."""

    def check(name: str) -> str:
        if name not in known:
            raise ValueError(f"is not a known {noun}; known: {', '.join(known)}")
        return name

    return AfterValidator(check), Field(json_schema_extra={"enum": list(known)})
