"""What a service of our own offers to the application, and what it is told.

The application has read and validated the request by botocore's model of the operation when it calls ``handle``, and
validates and serialises the answer by the model again. It calls one service at a time, so a service needs no locks and
must not wait: what takes AWS time is ``Clock.later``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from workbench.clouds.aws.double.server.clock import Clock


@dataclass(frozen=True)
class HealthIssue:
    """Why a node group could not be made.

    Parameters
    ----------
    code
        Such as ``AsgInstanceLaunchFailures``, as ``eks:Issue.code`` lists them.
    message
        What AWS says, such as ``Could not launch Spot Instances. InsufficientInstanceCapacity - ...``.
    """

    code: str
    message: str


@dataclass(frozen=True)
class Fate:
    """What a fault rule wants of the work that a request begins; the answer to the request itself is as usual.

    Parameters
    ----------
    is_stuck
        The work never ends: the state stays CREATING, UPDATING or DELETING.
    issues
        The work fails: CREATE_FAILED, DELETE_FAILED or an update that is Failed, for these reasons. Empty: it succeeds.
    """

    is_stuck: bool = False
    issues: tuple[HealthIssue, ...] = ()


AS_USUAL: Final = Fate()


@dataclass(frozen=True)
class ControlPlane:
    """The API server that every cluster leads to.

    Parameters
    ----------
    endpoint
        Such as ``https://127.0.0.1:6443``.
    certificate_authority
        Base64 of its CA certificate, as DescribeCluster returns it.
    """

    endpoint: str
    certificate_authority: str


@dataclass(frozen=True)
class Surroundings:
    """What a service of our own is made with.

    Parameters
    ----------
    clock
        When work is done.
    control_plane
        None where there is no API server: clusters then have an address that nobody answers.
    """

    clock: Clock = field(default_factory=Clock)
    control_plane: ControlPlane | None = None


class Service(Protocol):
    """One service of AWS; for EKS the class ``Eks`` of ``server/eks/__init__.py``, made with ``Surroundings``."""

    def handle(self, operation: str, params: dict[str, Any], fate: Fate = AS_USUAL) -> dict[str, Any]:
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

    def inventory(self) -> Mapping[str, list[str]]:
        """Return the ids of what exists, as Pulumi's state has them, by type token, such as ``aws:eks/addon:Addon``."""
        ...
