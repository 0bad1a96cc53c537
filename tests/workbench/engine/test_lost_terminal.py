"""A run of the engine whose terminal is closed."""

import json
import os
import sys
import time
from pathlib import Path

import pytest

from infra.config import CONFIG_KEY
from support.cluster import HANGS, eventually
from support.eks import document
from support.scripted_engine import ScriptedEngine
from support.terminals import Terminal
from workbench import stacks
from workbench.toolchain import Toolchain

FINISHES_ITS_STEP = f"""#!{sys.executable} -IS
import contextlib, pathlib, signal, subprocess, sys, time
said = pathlib.Path(sys.argv[0]).with_name("said")
def note(text):
    with said.open("a") as file:
        file.write(text + "\\n")
def work(seconds):
    time.sleep(seconds)
    with contextlib.suppress(OSError):
        print("working", flush=True)
signal.signal(signal.SIGINT, lambda *_: note("asked"))
plugin = subprocess.Popen(["sleep", "600"])
note("works")
while "asked" not in said.read_text():
    work(0.05)
work(2)
note("saved" if plugin.poll() is None else "lost its plug-in")
plugin.kill()
sys.exit(0)
"""

RUN = """
import sys
from pathlib import Path
from workbench import stacks
from workbench.cli import app, console
from workbench.engine.cloud import cloud_session
from workbench.toolchain import Toolchain
app.raise_when_asked_to_end()
toolchain = Toolchain({"pulumi": Path(sys.argv[1], "pulumi")})
code = cloud_session(stacks.find("mine"), toolchain).run("up")
console.errors.print("Stopped.")
console.out.print("A summary.")
with Path(sys.argv[1], "said").open("a") as said:
    said.write(f"ended with {code}\\n")
"""


@pytest.fixture
def toolchain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Toolchain:
    monkeypatch.setenv(stacks.FOLDER_VARIABLE, str(tmp_path))
    monkeypatch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path / "data"))
    (tmp_path / "Pulumi.mine.yaml").write_text(json.dumps({"config": {CONFIG_KEY: document()}}))
    return ScriptedEngine(tmp_path).toolchain


@pytest.mark.parametrize("has_reader", [False, True], ids=["alone", "with a reader that ends too, such as tee"])
def test_without_its_terminal_the_engine_is_asked_once_and_finishes_its_step(
    tmp_path: Path, toolchain: Toolchain, *, has_reader: bool
) -> None:
    toolchain.pulumi.write_text(FINISHES_ITS_STEP)
    said, (read, write) = tmp_path / "said", os.pipe()
    terminal = Terminal.of(
        [sys.executable, "-c", RUN, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        **({"stdout": write} if has_reader else {}),
    )
    os.close(write)
    eventually(said.exists)
    os.close(read)
    time.sleep(0.3)  # the engine writes meanwhile
    terminal.close()
    terminal.process.wait(HANGS)
    assert said.read_text().splitlines() == ["works", "asked", "saved", "ended with 130"]
