"""Files of an instance, and the lock that shows whether it runs."""

import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from workbench.system import locks
from workbench.system.errors import UserError
from workbench.system.paths import data_dir

_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


def home() -> Path:
    """Return the folder of all instances; not created here."""
    return data_dir() / "local"


@dataclass(frozen=True)
class Layout:
    """Files of one instance, in one folder of mode 0700; keys and kubeconfigs have mode 0600.

    Parameters
    ----------
    folder
        The instance's folder, named after the instance.
    """

    folder: Path

    @classmethod
    def of(cls, name: str) -> "Layout":
        """Return the files of the instance ``name``.

        Raises
        ------
        UserError
            The name is not a DNS label.
        """
        if not _NAME.fullmatch(name):
            raise UserError(
                f"{name!r} is not a valid name of a local control plane.",
                "Use 1 to 63 lower-case letters, digits and hyphens, with no hyphen at either end.",
            )
        return cls(home() / name)

    @property
    def name(self) -> str:
        """The instance's name."""
        return self.folder.name

    @property
    def lock(self) -> Path:
        """File of the lock that the instance's processes hold."""
        return self.folder / "lock"

    @property
    def deleted(self) -> Path:
        """What the folder is called while it is deleted: a name that no instance can have."""
        return self.folder.with_name(f".{self.name}")

    @property
    def pki(self) -> Path:
        """Folder of certificates and keys."""
        return self.folder / "pki"

    @property
    def etcd(self) -> Path:
        """Folder of the cluster's data."""
        return self.folder / "etcd"

    @property
    def first_start(self) -> Path:
        """Marker file of an etcd that has never been ready and therefore holds no data."""
        return self.folder / "founding"  # as releases before 0.3 call it

    @property
    def settings(self) -> Path:
        """File of the settings made before a start: ports, programs, versions."""
        return self.folder / "instance.json"

    @property
    def state(self) -> Path:
        """File in which the supervisor saves the state of its processes."""
        return self.folder / "state.json"

    @property
    def encryption(self) -> Path:
        """Settings of the API server's encryption at rest."""
        return self.folder / "encryption.yaml"

    @property
    def stages(self) -> Path:
        """Simulator stages: the behaviour of simulated nodes and pods."""
        return self.folder / "stages.yaml"

    @property
    def machines(self) -> Path:
        """Machine types that Karpenter starts, if the instance has it."""
        return self.folder / "machines.json"

    @property
    def scheduler(self) -> Path:
        """Settings of the scheduler, if the instance has its own."""
        return self.folder / "scheduler.yaml"

    def kubeconfig(self, user: str = "admin") -> Path:
        """Return a user's kubeconfig; default: the administrator's."""
        return self.folder / "kubeconfig" if user == "admin" else self.pki / f"{user}.kubeconfig"

    def log(self, component: str) -> Path:
        """Return a component's log."""
        return self.folder / "logs" / f"{component}.log"

    def create(self) -> None:
        """Create the folders, for the owner only."""
        for folder in (self.folder, self.pki, self.etcd, self.folder / "logs"):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def acquire(self) -> int | None:
        """Acquire the instance's lock without waiting.

        The supervisor and its components inherit the descriptor and hold it while they run.

        Returns
        -------
        int | None
            The lock's descriptor, which the caller closes; None if another process holds the lock.
        """
        with suppress(FileNotFoundError):  # another process has just deleted the folder
            self.create()
            return locks.take(self.lock)
        return None
