"""Builds the missing bundles one after the other."""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path

from workbench.toolchain import preflight, store
from workbench.toolchain.events import Completed, Progress, Waiting, silent
from workbench.toolchain.job import Job
from workbench.toolchain.recipes import Bundle


def build_missing(
    bundles: Sequence[Bundle],
    *,
    sources: Path = store.SOURCES,
    progress: Progress = silent,
    keep_build_cache: bool = False,
) -> None:
    """Build missing bundles; return at once if none is missing.

    Finished bundles are kept when a later one fails, so that the next call resumes there.

    Parameters
    ----------
    bundles
        The bundles to build.
    sources
        Folder of the Go modules, default the checkout's ``toolchain/``.
    progress
        Receives the events.
    keep_build_cache
        Leave the Go build cache (about 11 GB) for a next build.

    Raises
    ------
    UserError
        A prerequisite is missing (lists all), or Go failed (shows the end of its output).
    """
    if not store.missing(bundles, sources):
        return
    problems = preflight.unwritable()
    # Without a writable cache there is no lock to take; the preflight check then fails anyway.
    with nullcontext() if problems else store.locked(lambda pid: progress(Waiting(pid))) as lock:
        entries = store.missing(bundles, sources)
        if not entries:  # built by the process that held the lock
            return
        go_version = preflight.check(entries, problems)
        store.drop(store.staging())
        total = sum(len(entry.bundle.artifacts) for entry in entries)
        sizes: dict[str, int] = {}
        number = 1
        for entry in entries:
            with _stage(entry) as stage:
                job = Job(entry, stage, progress, number, total, lock)
                sizes |= entry.publish(job.build(), go_version)
            number += len(entry.bundle.artifacts)
        progress(Completed(sizes, 0 if keep_build_cache else store.drop(store.go_cache())))


@contextmanager
def _stage(entry: store.Entry) -> Iterator[Path]:
    stage = store.staging() / entry.folder.name
    for folder in ("built/bin", "tmp"):
        (stage / folder).mkdir(parents=True)
    try:
        yield stage
    finally:
        shutil.rmtree(stage, ignore_errors=True)
