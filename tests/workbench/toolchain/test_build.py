import json
import shutil
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from support.tiny_toolchain import Gate, Tiny, wait_until
from workbench.system import locks
from workbench.system.errors import UserError
from workbench.toolchain import store
from workbench.toolchain.build import build_missing
from workbench.toolchain.events import Completed, Event, Finished, Running, Started


def build(tiny: Tiny, *, keep_build_cache: bool = True) -> list[Event]:
    events: list[Event] = []
    build_missing(tiny.bundles, sources=tiny.sources, progress=events.append, keep_build_cache=keep_build_cache)
    return [event for event in events if not isinstance(event, Running)]


def started(events: list[Event]) -> list[str]:
    return [event.artifact for event in events if isinstance(event, Started)]


def output(child: subprocess.Popen[bytes]) -> str:
    return child.communicate(timeout=600)[0].decode()


def test_a_build_leaves_programs_that_run_with_their_linked_version(tiny: Tiny) -> None:
    build(tiny)
    program = store.Entry(tiny.two, tiny.sources).file("two")
    assert subprocess.run([program], capture_output=True, check=True).stderr == b"1.2.3\n"


def test_a_build_reports_each_program_in_turn_and_all_sizes_at_the_end(tiny: Tiny) -> None:
    events = build(tiny)
    sizes = store.Entry(tiny.one, tiny.sources).sizes() | store.Entry(tiny.two, tiny.sources).sizes()
    finished = [event for event in events if isinstance(event, Finished)]
    assert events == [
        Started("one", number=1, total=2, expected=3),
        Finished("one", finished[0].elapsed, sizes["one"]),
        Started("two", number=2, total=2, expected=3),
        Finished("two", finished[1].elapsed, sizes["two"]),
        Completed(sizes, freed=0),
    ]
    assert set(sizes) == {"one", "two", "schema.json"}


def test_a_file_of_a_published_module_is_copied_with_the_added_fields_and_the_run_bit(tiny: Tiny) -> None:
    build(tiny)
    copied = store.Entry(tiny.one, tiny.sources).file("schema.json")
    assert json.loads(copied.read_text()) == {"name": "tiny", "version": "1.2.3"}
    assert copied.stat().st_mode & 0o111 == 0o111


def test_a_build_changes_nothing_in_the_sources(tiny: Tiny) -> None:
    def snapshot() -> dict[Path, bytes | None]:
        return {path: path.read_bytes() if path.is_file() else None for path in tiny.sources.rglob("*")}

    before = snapshot()
    build(tiny)
    assert snapshot() == before


def test_the_go_build_cache_is_dropped_after_a_complete_build_and_its_size_is_told(tiny: Tiny) -> None:
    store.go_cache().unlink()  # the one that the tests share
    completed = build(tiny, keep_build_cache=False)[-1]
    assert isinstance(completed, Completed)
    assert completed.freed > 1_000_000  # Go's own runtime at least
    assert not store.go_cache().exists()


def test_what_is_built_needs_no_go_and_starts_no_process(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    build(tiny)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(subprocess, "Popen", None)
    assert build(tiny) == []


def test_a_damaged_program_is_built_again_and_only_its_bundle(tiny: Tiny) -> None:
    build(tiny)
    entry = store.Entry(tiny.one, tiny.sources)
    entry.file("one").write_bytes(b"")
    assert started(build(tiny)) == ["one"]
    assert subprocess.run([entry.file("one")], capture_output=True, check=True).stderr == b"1.2.3\n"


def test_a_changed_source_is_built_beside_the_old_one_which_stays(tiny: Tiny) -> None:
    build(tiny)
    old = store.Entry(tiny.two, tiny.sources).file("two")
    (tiny.sources / "two" / "go.sum").write_text("\n")
    assert started(build(tiny)) == ["two"]
    assert old.exists()


def test_a_killed_builder_leaves_finished_bundles_only_and_the_next_one_goes_on(tiny: Tiny, gate: Gate) -> None:
    child = tiny.child()
    gate.reached()
    child.kill()
    child.wait()
    entries = [store.Entry(bundle, tiny.sources) for bundle in tiny.bundles]
    assert [bool(entry.sizes()) for entry in entries] == [True, False]
    assert not entries[1].folder.exists()
    assert list(store.staging().iterdir())  # what the next build has to clean

    gate.release.touch()
    assert started(build(tiny)) == ["two"]
    assert [bool(entry.sizes()) for entry in entries] == [True, True]
    assert list(store.staging().iterdir()) == []


def test_after_a_kill_at_any_moment_the_next_build_ends_whole_and_no_process_of_the_first_is_left(
    tiny: Tiny, undisturbed: float, moment: float
) -> None:
    child = tiny.child()
    time.sleep(undisturbed * moment)
    child.kill()
    child.wait()
    build(tiny)
    assert store.missing(tiny.bundles, tiny.sources) == []
    assert list(store.staging().iterdir()) == []
    assert locks.holders(store.home() / "lock") == []


@pytest.fixture
def undisturbed(tiny: Tiny) -> float:
    """Seconds that a build takes when it is not interrupted; nothing of it is left."""
    begin = time.monotonic()
    assert tiny.child().wait(timeout=600) == 0
    seconds = time.monotonic() - begin
    shutil.rmtree(store.home())
    return seconds


def test_of_two_builders_one_builds_and_the_other_waits_for_it(tiny: Tiny, gate: Gate) -> None:
    first = tiny.child()
    gate.reached()
    second = tiny.child()
    assert second.stdout
    waiting = second.stdout.readline().decode()
    gate.release.touch()
    assert waiting == f"Waiting(pid={first.pid})\n"
    assert output(first).count("Started(") == 2
    assert output(second) == ""
    assert (first.returncode, second.returncode) == (0, 0)


def test_ctrl_c_ends_the_go_processes_and_cleans_up(tiny: Tiny, gate: Gate) -> None:
    child = tiny.child()
    go = gate.reached()
    child.send_signal(signal.SIGINT)
    errors = child.communicate(timeout=600)[1].decode()
    assert errors.endswith("KeyboardInterrupt\n")
    wait_until(lambda: not psutil.pid_exists(go))
    assert list(store.staging().iterdir()) == []


def test_a_failed_build_shows_the_end_of_gos_output_and_keeps_what_was_finished(tiny: Tiny) -> None:
    (tiny.sources / "two" / "main.go").write_text("package main\n\nfunc main() { undefined() }\n")
    with pytest.raises(UserError) as caught:
        build(tiny)
    log = tiny.root / "data" / "logs" / "toolchain" / "two.log"
    assert str(caught.value) == (
        "Building two failed. Last lines of Go's output:\n"
        "# igz-clusters/toolchain/two\n"
        "./main.go:3:15: undefined: undefined\n"
        f"Full log: {log}\n"
        "Run the command again to continue from here; finished programs are kept."
    )
    assert [entry.bundle.name for entry in store.missing(tiny.bundles, tiny.sources)] == ["two"]


def test_a_module_without_its_checksum_is_refused(tiny: Tiny) -> None:
    # golang.org/x/text is in every Go module cache or refused before any download: go.sum lacks it.
    mod = tiny.sources / "one" / "go.mod"
    mod.write_text(mod.read_text() + "\nrequire golang.org/x/text v0.14.0\n")
    (tiny.sources / "one" / "main.go").write_text(
        'package main\n\nimport _ "golang.org/x/text/language"\n\nfunc main() {}\n'
    )
    with pytest.raises(UserError, match=r"missing go\.sum entry"):
        build(replace(tiny, one=replace(tiny.one, copied=())))
