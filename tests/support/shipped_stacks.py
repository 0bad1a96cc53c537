"""The stack files that the project ships, and small changes of them."""

from typing import Any, Final

from infra.config import StackConfig
from workbench import stacks

SHIPPED: Final = ("local", "dev", "prod", "aks-dev", "aks-prod", "existing", "local-prod")


def shipped(name: str) -> StackConfig:
    """Return the settings of a shipped stack."""
    return stacks.find(name).config


def changed(name: str, **keys: Any) -> StackConfig:
    """Return the settings of a shipped stack with other keys, by their names in the stack file."""
    content = shipped(name).model_dump(mode="json", by_alias=True)
    return StackConfig.model_validate({**content, **keys})
