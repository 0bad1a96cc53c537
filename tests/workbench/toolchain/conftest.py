import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from support.tiny_toolchain import BLOCKED_GO, GO_MOD, MAIN, PUBLISHED, Gate, Tiny, wait_until
from workbench.toolchain.recipes import Artifact, Bundle


@pytest.fixture(scope="session")
def warm_go_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Hold Go's own packages: compiling them anew for each test would take most of the time."""
    return tmp_path_factory.mktemp("go-cache")


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, warm_go_cache: Path) -> Tiny:
    monkeypatch.setenv("IGZ_CLUSTERS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path / "data"))
    (tmp_path / "cache" / "build").mkdir(parents=True)
    (tmp_path / "cache" / "build" / "go-cache").symlink_to(warm_go_cache)
    published = tmp_path / "published"
    (published / "data").mkdir(parents=True)
    (published / "go.mod").write_text("module example.test/published\n")
    (published / "data" / "schema.json").write_text('{"name": "tiny"}')
    for name in ("one", "two"):
        folder = tmp_path / "toolchain" / name
        folder.mkdir(parents=True)
        (folder / "go.mod").write_text(GO_MOD.format(name=name, published=published))
        (folder / "go.sum").touch()
        (folder / "main.go").write_text(MAIN)
    program = Artifact("one", "one", ".", "1.2.3", 3, (("main.version", "1.2.3"),))
    bundle = Bundle("one", (program,), scratch_gib=0.2, download_gib=0.1, copied=(PUBLISHED,))
    other = replace(program, name="two", module="two")
    return Tiny(tmp_path, bundle, replace(bundle, name="two", artifacts=(other,), copied=()))


@pytest.fixture
def gate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    gate = Gate(tmp_path / "gate-reached", tmp_path / "gate-open")
    script = tmp_path / "gate" / "go"
    script.parent.mkdir()
    text = BLOCKED_GO.format(program="two", marker=gate.marker, release=gate.release, go=shutil.which("go"))
    script.write_text(text)
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}{os.pathsep}{os.environ['PATH']}")
    yield gate
    gate.release.touch()
    if gate.marker.exists():
        wait_until(lambda: not psutil.pid_exists(int(gate.marker.read_text())))


@pytest.fixture
def program(tmp_path: Path) -> Callable[[str, str], Path]:
    """Make an executable shell script in a folder ``bin``."""

    def make(name: str, body: str) -> Path:
        path = tmp_path / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
        return path

    return make
