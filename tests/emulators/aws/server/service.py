"""The interface between the application and a service of our own.

The application has read and validated the request by botocore's model of the operation when it calls ``handle``, and
validates and serialises the answer by the model again. It calls one service at a time, so a service needs no locks and
must not wait: what takes AWS time is ``Clock.later``.
"""

from collections.abc import Mapping
from typing import Any, Protocol

from emulators.aws.server.circumstances import Circumstances
from emulators.core.doors import Doors
from emulators.core.fault_outcome import AS_USUAL, FaultOutcome


class Service(Protocol):
    """One service of AWS; for EKS the class ``Eks`` of ``server/eks/__init__.py``, made with ``ServiceContext``."""

    def handle(self, operation: str, params: dict[str, Any], outcome: FaultOutcome = AS_USUAL) -> dict[str, Any]:
        """Do what a request asks for and return the members of the answer.

        Parameters
        ----------
        operation
            As botocore spells it, such as ``CreateCluster``.
        params
            The request's members, as boto3's caller gave them; timestamps are ``datetime``. Valid by the model.

        Raises
        ------
        AwsError
            The request is refused.
        NotImplementedError
            The service does not have the operation; the caller gets status 501.
        """
        ...

    @property
    def doors(self) -> Doors:
        """The addresses of clusters."""
        ...

    def set_circumstances(self, circumstances: Circumstances) -> None:
        """Let these circumstances hold from now on."""
        ...

    def follow(self, operation: str, params: Mapping[str, Any]) -> None:
        """Do what follows from a request that another service granted, such as ``logs:DeleteLogGroup``."""
        ...

    def inventory(self) -> Mapping[str, list[str]]:
        """Return the ids of what exists, as Pulumi's state has them, by type token, such as ``aws:eks/addon:Addon``."""
        ...
