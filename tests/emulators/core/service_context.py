"""What a emulator's services are made with."""

from dataclasses import dataclass, field

from emulators.core.clock import Clock


@dataclass(frozen=True)
class ControlPlane:
    """The API server that every cluster leads to.

    Parameters
    ----------
    endpoint
        Such as ``https://127.0.0.1:6443``.
    certificate_authority
        Base64 of its CA certificate.
    """

    endpoint: str
    certificate_authority: str


@dataclass(frozen=True)
class ServiceContext:
    """What a service is made with.

    Parameters
    ----------
    clock
        When work is done.
    control_plane
        None where there is no API server: clusters then have an address that does not answer.
    """

    clock: Clock = field(default_factory=Clock)
    control_plane: ControlPlane | None = None
