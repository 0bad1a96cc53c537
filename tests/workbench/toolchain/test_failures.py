from pathlib import Path

import pytest

from workbench.toolchain.failures import build_failed

PROXY, CHECKSUM, DISK, OTHER = (
    "module proxy did not serve",
    "differs from the published",
    "disk is full",
    "continue from here",
)


def test_the_last_twenty_lines_are_shown_and_the_log_is_named(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("".join(f"line {number}\n" for number in range(30)))
    tail = "\n".join(f"line {number}" for number in range(10, 30))
    assert build_failed("etcd", log).message == (
        f"Building etcd failed. Last lines of Go's output:\n{tail}\nFull log: {log}"
    )


@pytest.mark.parametrize(
    ("output", "hint"),
    [
        ("reading https://goproxy.example/a.zip: 403 Forbidden", PROXY),
        ("reading https://goproxy.example/a.zip: 404 Not Found", PROXY),
        ('Get "https://goproxy.example/": dial tcp: lookup goproxy.example: no such host', PROXY),
        ("module lookup disabled by GOPROXY=off", PROXY),
        ("verifying a@v1.0.0: checksum mismatch\nSECURITY ERROR", CHECKSUM),
        ("write /x/y: no space left on device", DISK),
        ("./main.go:404:15: undefined: x", OTHER),
        ("./main.go:3:15: undefined: x", OTHER),
    ],
)
def test_the_hint_fits_what_go_said(tmp_path: Path, output: str, hint: str) -> None:
    log = tmp_path / "log"
    log.write_text(output)
    assert hint in build_failed("etcd", log).hint
