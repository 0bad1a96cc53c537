import json
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from workbench.local import Binaries, Instance
from workbench.local.programs import PROGRAMS
from workbench.system.paths import data_dir


@dataclass(frozen=True)
class Folder:
    folder: Path

    def path(self, name: str) -> Path:
        return self.folder / name


@pytest.fixture(scope="session")
def toolchain_bin() -> Binaries:
    if folder := os.environ.get("IGZ_CLUSTERS_TEST_BIN"):
        return Folder(Path(folder))
    from workbench.toolchain import ensure  # noqa: PLC0415 the unit tier must not need a toolchain

    return ensure([*PROGRAMS, "kubectl"])


@pytest.fixture(scope="module")
def own_data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path_factory.mktemp("data")))
        yield data_dir()


@contextmanager
def started(instance: Instance, binaries: Binaries) -> Iterator[Instance]:
    try:
        instance.start(binaries)
        yield instance
    finally:
        instance.stop()


@pytest.fixture(scope="session")
def shared(toolchain_bin: Binaries, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    """Run one for the files whose tests only add objects to it; the group ``shared`` keeps them in one process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path_factory.mktemp("shared")))
        instance = Instance("shared")
    with started(instance, toolchain_bin) as running:
        yield running


@pytest.fixture(scope="module")
def own(toolchain_bin: Binaries, own_data: Path) -> Iterator[Instance]:
    """Run one for a file whose tests count all nodes, or make them."""
    with started(Instance("own"), toolchain_bin) as running:
        yield running


@pytest.fixture(scope="session")
def kubectl(toolchain_bin: Binaries) -> Callable[..., str]:
    def run(instance: Instance, *arguments: str, stdin: str | None = None) -> str:
        command = [toolchain_bin.path("kubectl"), f"--kubeconfig={instance.kubeconfig}", *arguments]
        result = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=600, check=False)
        assert result.returncode == 0, f"kubectl {arguments}: {result.stderr}"
        return result.stdout

    return run


@pytest.fixture(scope="session")
def get(kubectl: Callable[..., str]) -> Callable[..., Any]:
    return lambda instance, *what: json.loads(kubectl(instance, "get", *what, "-o", "json"))


@pytest.fixture(scope="session")
def apply(kubectl: Callable[..., str]) -> Callable[..., None]:
    def run(instance: Instance, *manifests: dict[str, Any]) -> None:
        listed = {"apiVersion": "v1", "kind": "List", "items": manifests}
        kubectl(instance, "apply", "--server-side", "--force-conflicts", "-f", "-", stdin=json.dumps(listed))

    return run
