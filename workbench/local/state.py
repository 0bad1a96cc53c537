"""Saved settings and state of an instance."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Literal, TypeAlias

import psutil

from workbench.local.layout import Layout
from workbench.local.programs import CONTROL_PLANE, KARPENTER, PROGRAMS
from workbench.system.files import write_private
from workbench.system.processes import living, pid_namespace

Flag: TypeAlias = str | Sequence[str]
ComponentState = Literal["waiting", "starting", "ready", "crashed", "suspended", "stopped"]


@dataclass(frozen=True)
class ComponentStatus:
    """Status of one process.

    ``waiting``: for other components (the autoscaler: for node groups); ``crashed``: restarts after a pause;
    ``suspended``: by a signal such as SIGSTOP.
    """

    name: str
    state: ComponentState = "stopped"
    pid: int | None = None
    restarts: int = 0
    """Restarts after a crash since the instance started."""


@dataclass(frozen=True)
class InstanceStatus:
    """Status of an instance."""

    name: str
    running: bool
    """Whether its supervisor runs."""
    ready: bool
    """Whether the control plane can be used."""
    ports: dict[str, int]
    pids: dict[str, int]
    """Process ids by component, ``supervisor`` included; empty if it does not run."""
    versions: dict[str, str]
    components: tuple[ComponentStatus, ...]
    age: float | None
    """Seconds since the start; None if it does not run."""
    suspended: tuple[str, ...] = ()
    """Id and program of each process that a signal suspended."""


@dataclass(frozen=True)
class Owner:
    """A process whose end ends an instance.

    Parameters
    ----------
    pid
        Its id.
    created
        Its start in seconds since 1970; guards against a reused id.
    namespace
        Where its id is valid. Default: here, as in a record of an earlier release.
    """

    pid: int
    created: float
    namespace: str = ""

    @classmethod
    def this(cls) -> "Owner":
        """Return the calling process."""
        process = psutil.Process()
        return cls(process.pid, process.create_time(), pid_namespace())

    def is_alive(self) -> bool:
        """Return whether the process may still run; one of another container is not known to have ended."""
        is_elsewhere = self.namespace not in ("", pid_namespace())
        return is_elsewhere or living(self.pid, before=self.created) is not None


@dataclass(frozen=True)
class Tuning:
    """How an instance differs from the usual one.

    Parameters
    ----------
    flags
        Flags by component, without leading hyphens; they replace the usual ones. A sequence sets a flag several times.
        Default: none.
    scheduler
        Fields of the scheduler's ``KubeSchedulerConfiguration``. Default: no such file.
    simulator
        Options of the simulator's ``KwokConfiguration``. Default: its own.
    emulated
        Minor version that the API server emulates: behaviour on older clusters. Default: its own.
    machines
        Machine types that Karpenter starts, which then runs in place of the autoscaler. Default: none.
    owner
        The process whose end ends the instance. Default: none, it runs until it is stopped.
    """

    flags: Mapping[str, Mapping[str, Flag]] = field(default_factory=dict)
    scheduler: Mapping[str, Any] = field(default_factory=dict)
    simulator: Mapping[str, Any] = field(default_factory=dict)
    emulated: str = ""
    machines: Sequence[Mapping[str, Any]] = ()
    owner: Owner | None = None

    @property
    def programs(self) -> tuple[str, ...]:
        """Programs of the instance, in start order."""
        return (*CONTROL_PLANE, KARPENTER) if self.machines else PROGRAMS


@dataclass(frozen=True)
class Settings:
    """Settings made before a start and kept."""

    ports: dict[str, int] = field(default_factory=dict)
    programs: dict[str, str] = field(default_factory=dict)
    fingerprint: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    emulated: str = ""
    """Minor version that the API server emulates: behaviour on older clusters. Empty: its own."""
    flags: Mapping[str, Mapping[str, Flag]] = field(default_factory=dict)
    """As in ``Tuning``."""
    scheduler: Mapping[str, Any] = field(default_factory=dict)
    """As in ``Tuning``."""
    simulator: Mapping[str, Any] = field(default_factory=dict)
    """As in ``Tuning``."""
    machines: Sequence[Mapping[str, Any]] = ()
    """As in ``Tuning``."""
    owner: Owner | None = None
    """As in ``Tuning``."""

    @property
    def tuning(self) -> Tuning:
        """How the instance differs from the usual one."""
        return Tuning(self.flags, self.scheduler, self.simulator, self.emulated, self.machines, self.owner)

    def tuned(self, tuning: Tuning) -> "Settings":
        """Return these settings with another tuning."""
        return replace(self, **{each.name: getattr(tuning, each.name) for each in fields(tuning)})

    @classmethod
    def load(cls, layout: Layout) -> "Settings":
        """Return the saved settings; empty ones if none can be read."""
        try:
            raw = json.loads(layout.settings.read_bytes())
            owner = raw.get("owner")
            return cls(**raw | {"owner": Owner(**owner) if owner else None})
        except (FileNotFoundError, ValueError, TypeError):
            return cls()

    def save(self, layout: Layout) -> None:
        """Write the settings."""
        write_private(layout.settings, json.dumps(asdict(self), indent=2))


@dataclass(frozen=True)
class State:
    """State that the supervisor saves while it runs and when it ends."""

    pid: int
    created: float
    """Start of the supervisor's process in seconds since 1970."""
    fingerprint: str
    """Which programs it runs."""
    ready: bool = False
    failed: str = ""
    """The component that made the start fail; empty if none did."""
    components: tuple[ComponentStatus, ...] = ()

    @classmethod
    def load(cls, layout: Layout) -> "State | None":
        """Return the last saved state; None if none can be read."""
        try:
            raw = json.loads(layout.state.read_bytes())
            return cls(**raw | {"components": tuple(ComponentStatus(**each) for each in raw["components"])})
        except (FileNotFoundError, ValueError, TypeError, KeyError):
            return None

    def save(self, layout: Layout) -> None:
        """Write the state."""
        write_private(layout.state, json.dumps(asdict(self)))
