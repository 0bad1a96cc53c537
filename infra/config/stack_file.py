"""Model of a stack file as it is written: its settings, and the base that they refine."""

from typing import Annotated

from pydantic import Field

from components.contract.choices import Explained
from infra.config.model import StackConfig


class StackFile(StackConfig):
    """All settings of a stack file under ``igz-clusters:stack``."""

    # The schema shows this docstring. This model defines the keys; values are checked after merging those of the base.

    base: Annotated[
        str | None,
        Explained(
            "A stack file has all settings itself.",
            "Settings of Base.NAME.yaml next to the stack file, which the stack file refines (docs/inheritance.md).",
        ),
    ] = Field(
        None,
        pattern="^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$",
        description="Name of the base whose settings this file refines.",
        examples=["acme"],
    )
