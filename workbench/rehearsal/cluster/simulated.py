"""The cluster that a rehearsal runs on, as the rest of the rehearsal sees it."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from infra.config import StackConfig
from workbench.rehearsal.record import GroupFacts
from workbench.rehearsal.settings import Pace, Scaler


class ApiError(Exception):
    """The API server refused a request.

    Parameters
    ----------
    status
        HTTP status.
    message
        The server's own words.
    """

    def __init__(self, status: int, message: str) -> None:
        self.status = status
        self.message = message
        super().__init__(f"{status}: {message}")


class LostError(Exception):
    """The control plane has ended, does not answer or fails; says which component, where its log is, and what to do."""


class Watch(Protocol):
    """Events of a watch: ``{"type": "ADDED", "MODIFIED" or "DELETED", "object": ...}``."""

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        """Return itself."""

    def __next__(self) -> Mapping[str, Any]:
        """Wait for the next event and return it; the iteration ends when the watch is closed."""

    def close(self) -> None:
        """End the iteration, also from another thread while one waits for an event."""


class Api(Protocol):
    """The API server's REST interface; every call may be made from any thread and raises ``LostError``."""

    def get(self, path: str) -> Any:
        """Return the object or list at ``path``, such as ``/api/v1/nodes``; None if it does not exist."""

    def create(self, manifest: Mapping[str, Any], *, as_user: str = "", as_groups: tuple[str, ...] = ()) -> Any:
        """Create an object, as another user if one is named, and return it; ``ApiError`` if it is refused.

        A manifest of kind ``Eviction`` or ``Binding`` is created below the pod of its name. An eviction that a
        PodDisruptionBudget forbids has the status 429.
        """

    def apply(self, manifest: Mapping[str, Any]) -> Any:
        """Create or update an object by server-side apply, taking over fields of other owners, and return it.

        ``ApiError`` if it is refused.
        """

    def patch(self, path: str, patch: Mapping[str, Any]) -> Any:
        """Apply a JSON merge patch and return the object; ``ApiError`` if it is refused."""

    def delete(self, path: str, *, grace: int | None = None) -> bool:
        """Delete an object, or all objects of a collection; return whether it existed. What they own is deleted later.

        ``grace``: seconds that pods get to end. Default: each pod's own value.
        """

    def path_of(self, manifest: Mapping[str, Any]) -> str:
        """Return the path of a manifest's object, from the server's own discovery; ``ApiError`` for unknown kinds."""

    def watch(self, path: str) -> Watch:
        """Return events: one for each object that exists, then one for each change, until it is closed."""

    def close(self) -> None:
        """End all watches, and close the calling thread's connection."""


@dataclass(frozen=True)
class PodUsage:
    """What a running pod uses: its CPU in thousandths."""

    namespace: str
    name: str
    labels: Mapping[str, str]
    cpu_millis: int


Usages: TypeAlias = Callable[[str, Mapping[str, str]], Iterable[PodUsage]]
"""Returns what the pods of a namespace (empty: of all) that have certain labels use now."""


class Closing(Protocol):
    """Something that runs until it is closed."""

    def close(self) -> None:
        """End it."""


class SimulatedCluster(Protocol):
    """The cluster of a stack as simulated nodes on a running control plane, with the stack's own objects in it."""

    @property
    def config(self) -> StackConfig:
        """Choices of the stack."""

    @property
    def groups(self) -> tuple[GroupFacts, ...]:
        """Its node groups."""

    @property
    def pace(self) -> Pace:
        """How scenario time passes."""

    @property
    def api(self) -> Api:
        """Its API server."""

    @property
    def scaler(self) -> Scaler:
        """What adds nodes and removes them."""

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the simulation assumes, as sentences."""

    def serve_metrics(self, usages: Usages) -> Closing:
        """Offer the usage of pods at its API server, as metrics-server does, until the result is closed."""

    def check(self) -> None:
        """Raise ``LostError`` if a component of the control plane has ended."""
