import json
import os
import subprocess
import sys
import threading
import time
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from support.eks import document
from support.scripted_engine import ScriptedEngine
from workbench import stacks
from workbench.engine import INTERRUPTED
from workbench.engine.cloud import cloud_session
from workbench.stacks import CONFIG_KEY
from workbench.system.copying import Copies
from workbench.system.errors import UserError


def test_what_a_program_writes_arrives_while_it_runs_and_whole() -> None:
    target, seen = StringIO(), threading.Event()
    with Copies({"out": target}, seen.set) as copies:
        program = "import sys; print('first', flush=True); sys.stdin.read(); print('last')"
        process = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=copies.files["out"])
        while "first" not in target.getvalue():
            assert process.poll() is None
        process.communicate()
    assert target.getvalue() == "first\nlast\n"
    assert not copies.is_closed
    assert not seen.is_set()


def test_a_reader_that_is_gone_is_told_once_and_the_program_lives_on() -> None:
    read, write = os.pipe()
    calls = []
    with os.fdopen(write, "w", encoding="utf-8") as target, Copies({"out": target}, lambda: calls.append(1)) as copies:
        os.close(read)
        done = subprocess.run(["seq", "100000"], stdout=copies.files["out"], check=False)
    assert done.returncode == 0
    assert copies.is_closed
    assert calls == [1]


def test_a_slow_reader_of_a_pipe_that_does_not_block_gets_everything() -> None:
    read, write = os.pipe()
    os.set_blocking(write, False)
    got = list[bytes]()
    with os.fdopen(read, "rb") as source, os.fdopen(write, "w", encoding="utf-8") as target:
        with Copies({"out": target}, lambda: None) as copies:
            subprocess.run(["seq", "100000"], stdout=copies.files["out"], check=True)
            reader = threading.Timer(0.3, lambda: got.append(source.read()))
            reader.start()
        target.close()
        reader.join()
    assert got == [b"".join(b"%d\n" % number for number in range(1, 100_001))]
    assert not copies.is_closed
    assert not copies.failures


def test_output_that_cannot_be_written_fails_the_command_once_the_engine_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(stacks.FOLDER_VARIABLE, str(tmp_path))
    monkeypatch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path / "data"))
    (tmp_path / "Pulumi.mine.yaml").write_text(json.dumps({"config": {CONFIG_KEY: document()}}))
    engine = ScriptedEngine(tmp_path)
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        monkeypatch.setattr(sys, "stdout", full)
        with pytest.raises(UserError, match=r"exit code 0, but .* written to stdout: No space left on device"):
            cloud_session(stacks.find("mine"), engine.toolchain).run("preview")
        monkeypatch.undo()
    assert engine.commands == ["preview"]


ENGINE = """#!{python}
import pathlib, signal, sys, time
def end(*_):
    pathlib.Path({folder!r}, "asked").write_text("asked to end")
    sys.exit(1)
signal.signal(signal.SIGINT, end)  # also where the tests run in the background, with SIGINT ignored
for _ in range(200):
    print("line", flush=True)
    time.sleep(0.05)
"""


@pytest.mark.parametrize("delay", [0, 0.3], ids=["known at once", "known after its first line"])
def test_a_closed_pipe_ends_the_engine_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, delay: float) -> None:
    class Slow(subprocess.Popen[bytes]):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            time.sleep(delay)

    monkeypatch.setenv(stacks.FOLDER_VARIABLE, str(tmp_path))
    monkeypatch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path / "data"))
    (tmp_path / "Pulumi.mine.yaml").write_text(json.dumps({"config": {CONFIG_KEY: document()}}))
    toolchain = ScriptedEngine(tmp_path).toolchain
    toolchain.pulumi.write_text(ENGINE.format(python=sys.executable, folder=str(tmp_path)))
    read, write = os.pipe()
    with os.fdopen(write, "w", encoding="utf-8") as gone:
        os.close(read)
        monkeypatch.setattr(sys, "stdout", gone)
        monkeypatch.setattr("workbench.engine.session.subprocess.Popen", Slow)
        code = cloud_session(stacks.find("mine"), toolchain).run("preview")
        monkeypatch.undo()
    assert code == INTERRUPTED
    assert (tmp_path / "asked").read_text() == "asked to end"
