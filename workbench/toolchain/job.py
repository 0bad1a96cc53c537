"""Builds one bundle in a staging folder with Go."""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from signal import SIGKILL

from workbench.system.paths import data_dir
from workbench.system.processes import tied_to_this
from workbench.toolchain import store
from workbench.toolchain.events import Finished, Progress, Running, Started
from workbench.toolchain.failures import build_failed
from workbench.toolchain.recipes import GOFLAGS, Artifact, Copied


@dataclass(frozen=True)
class Job:
    """The build of one bundle.

    Parameters
    ----------
    entry
        The bundle to build.
    stage
        A fresh folder of this job's own with ``built/bin`` and ``tmp``.
    progress
        Receives the events.
    first, total
        Number of the bundle's first program, and number of all programs of the run.
    lock
        Descriptor of the cache's lock, None for no lock. Go and its compilers inherit it, so that after a killed
        build the next one starts only when the last of them has ended.
    """

    entry: store.Entry
    stage: Path
    progress: Progress
    first: int
    total: int
    lock: int | None = None

    def build(self) -> Path:
        """Build all programs and return the folder that holds their ``bin``.

        Raises
        ------
        UserError
            Go failed.
        """
        self._log.parent.mkdir(parents=True, exist_ok=True)
        self._log.unlink(missing_ok=True)
        bundle = self.entry.bundle
        # Go may write to go.mod and go.sum, so it works on copies: the checkout never changes.
        for module in bundle.modules:
            for path in store.source_files(self.entry.sources / module):
                target = self._source(module) / path.relative_to(self.entry.sources / module)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)
        for number, artifact in enumerate(bundle.artifacts, self.first):
            self.progress(Started(artifact.name, number, self.total, artifact.seconds))
            start = time.monotonic()
            if number == self.first:
                self._copy_files(artifact, start)
            self._compile(artifact, start)
            size = (self._bin / artifact.name).stat().st_size
            self.progress(Finished(artifact.name, time.monotonic() - start, size))
        return self.stage / "built"

    @property
    def _bin(self) -> Path:
        return self.stage / "built" / "bin"

    @property
    def _log(self) -> Path:
        return data_dir() / "logs" / "toolchain" / f"{self.entry.bundle.name}.log"

    def _source(self, module: str) -> Path:
        return self.stage / "source" / module

    def _compile(self, artifact: Artifact, start: float) -> None:
        ldflags = " ".join(["-s -w", *(f"-X {name}={value}" for name, value in artifact.variables)])
        flags = ["-tags", ",".join(artifact.tags), "-ldflags", ldflags, "-o", str(self._bin / artifact.name)]
        self._go(["build", *flags, artifact.package], artifact.module, artifact, start)

    def _copy_files(self, artifact: Artifact, start: float) -> None:
        for copied in self.entry.bundle.copied:
            self._go(["mod", "download", copied.module], copied.pinned_by, artifact, start)
            command = ["go", "list", "-m", "-f", "{{.Dir}}", copied.module]
            source = self._source(copied.pinned_by)
            folder = subprocess.check_output(command, cwd=source, env=self._environment(), text=True).strip()
            self._copy(copied, Path(folder) / copied.path)

    def _copy(self, copied: Copied, path: Path) -> None:
        target = (self._bin if copied.to == "bin" else self._source(copied.pinned_by)) / copied.name
        if copied.json_fields:
            target.write_text(json.dumps(json.loads(path.read_bytes()) | dict(copied.json_fields)))
        else:
            shutil.copyfile(path, target)
        if copied.to == "bin":
            target.chmod(0o755)

    def _go(self, arguments: list[str], module: str, artifact: Artifact, start: float) -> None:
        with self._log.open("ab") as log:
            process = subprocess.Popen(
                ["go", *arguments],
                cwd=self._source(module),
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # a group of its own, compilers included, that can be ended as a whole
                pass_fds=() if self.lock is None else (self.lock,),
                preexec_fn=tied_to_this(),  # noqa: PLW1509 - it makes two system calls
            )
            with _ended(process):
                while _wait(process) is None:
                    self.progress(Running(artifact.name, time.monotonic() - start))
        if process.returncode:
            raise build_failed(artifact.name, self._log)

    def _environment(self) -> dict[str, str]:
        """Return the user's environment (including proxy and checksum settings) with the fixed settings of a build."""
        return os.environ | {
            "GO111MODULE": "on",
            "GOWORK": "off",
            "GOTOOLCHAIN": "local",
            "GOFLAGS": GOFLAGS,
            "GOOS": store.GOOS,
            "GOARCH": store.GOARCH,
            "CGO_ENABLED": "0",
            "GOCACHE": str(store.go_cache()),
            "GOTMPDIR": str(self.stage / "tmp"),
        }


def _wait(process: subprocess.Popen[bytes]) -> int | None:
    try:
        return process.wait(timeout=1)
    except subprocess.TimeoutExpired:
        return None


@contextmanager
def _ended(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Kill the process and its children if an exception ends the body, Ctrl-C included."""
    try:
        yield
    except BaseException:
        os.killpg(process.pid, SIGKILL)
        process.wait()
        raise
