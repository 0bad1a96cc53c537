"""Small Go programs that stand in for the real toolchain, and processes that build them."""

import pickle
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from workbench.system.paths import PROJECT_ROOT
from workbench.toolchain.recipes import Bundle, Copied

GO_MOD = """module igz-clusters/toolchain/{name}

go 1.26

require example.test/published v1.0.0

replace example.test/published => {published}
"""
MAIN = "package main\n\nvar version = `unset`\n\nfunc main() { println(version) }\n"
PUBLISHED = Copied("example.test/published", "one", "data/schema.json", "bin", (("version", "1.2.3"),))

# Lets everything through but a build, which says who it is and then waits for a file.
BLOCKED_GO = """#!/bin/sh
if [ "$1" = build ]; then
    case "$*" in *" -o "*/{program}" "*)
        echo $$ > {marker}.new && mv {marker}.new {marker}
        while [ ! -e {release} ]; do sleep 0.02; done
    esac
fi
exec {go} "$@"
"""

CHILD = """
import pickle, sys
from workbench.toolchain.build import build_missing
bundles, sources = pickle.load(sys.stdin.buffer)
build_missing(bundles, sources=sources, progress=lambda event: print(event, flush=True), keep_build_cache=True)
"""


@dataclass(frozen=True)
class Tiny:
    """Two bundles of one small Go program each, and a cache and a data folder for them alone."""

    root: Path
    one: Bundle
    two: Bundle

    @property
    def sources(self) -> Path:
        return self.root / "toolchain"

    @property
    def cache(self) -> Path:
        return self.root / "cache" / "toolchain"

    @property
    def bundles(self) -> list[Bundle]:
        return [self.one, self.two]

    def child(self) -> subprocess.Popen[bytes]:
        """Start another process that builds both bundles and prints its events."""
        child = subprocess.Popen(
            [sys.executable, "-c", CHILD],
            cwd=PROJECT_ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert child.stdin
        child.stdin.write(pickle.dumps((self.bundles, self.sources)))
        child.stdin.close()
        child.stdin = None
        return child


@dataclass(frozen=True)
class Gate:
    """A ``go`` on PATH whose build of program ``two`` waits until it is let go."""

    marker: Path
    release: Path

    def reached(self) -> int:
        """Wait until the build waits and return its process id."""
        wait_until(self.marker.exists)
        return int(self.marker.read_text())


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait until something holds, at most a minute."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)
