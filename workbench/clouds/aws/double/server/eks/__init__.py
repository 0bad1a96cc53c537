"""EKS."""

from collections.abc import Mapping
from typing import Any

from workbench.clouds.aws.double.server.service import AS_USUAL, Fate, Surroundings


class Eks:
    """EKS without an operation yet; every request is answered with status 501."""

    def __init__(self, surroundings: Surroundings) -> None:
        self._surroundings = surroundings

    def handle(self, operation: str, params: dict[str, Any], fate: Fate = AS_USUAL) -> dict[str, Any]:
        """Refuse."""
        raise NotImplementedError(operation, params, fate)

    def inventory(self) -> Mapping[str, list[str]]:
        """Return nothing."""
        return {}
