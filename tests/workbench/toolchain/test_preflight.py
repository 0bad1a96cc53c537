import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from support.tiny_toolchain import Tiny
from workbench.system.errors import UserError
from workbench.toolchain import preflight, store
from workbench.toolchain.build import build_missing
from workbench.toolchain.recipes import BUNDLES

Program = Callable[[str, str], Path]
REFUSED = "The toolchain cannot be built on this machine:\n"
SETTINGS = {
    "GOVERSION": "go1.26.8",
    "GOMODCACHE": "/",
    "GOFLAGS": "",
    "GOSUMDB": "on",
    "GONOSUMDB": "",
    "GOINSECURE": "",
}


def refusal(tiny: Tiny) -> str:
    with pytest.raises(UserError) as caught:
        build_missing(tiny.bundles, sources=tiny.sources)
    return str(caught.value)


@pytest.fixture
def fake_go(program: Program, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Put a ``go`` on PATH that answers ``go env`` with the given settings."""

    def make(**settings: str) -> Path:
        path = program("go", f"echo '{json.dumps(SETTINGS | settings)}'")
        monkeypatch.setenv("PATH", f"{path.parent}{os.pathsep}{os.environ['PATH']}")
        return path

    return make


def free_space(monkeypatch: pytest.MonkeyPatch, gib: float) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=gib * preflight.GIB))


NO_GO = (
    "- Go is not on PATH; it builds the engine and the local cluster.\n"
    "  Install Go 1.26 or newer, or copy the toolchain cache from a machine that has it."
)


def test_a_machine_without_go_is_told_which_go_to_install(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert refusal(tiny) == REFUSED + NO_GO


def test_an_old_go_is_named_with_its_place_and_the_needed_version(tiny: Tiny, fake_go: Callable[..., Path]) -> None:
    go = fake_go(GOVERSION="go1.25.9")
    assert refusal(tiny) == (
        f"{REFUSED}- Go on PATH ({go}) is go1.25.9, the pinned modules need 1.26 or newer.\n"
        "  Put a newer Go first on PATH."
    )


@pytest.mark.parametrize("version", ["go1.26", "go1.26.8", "go1.27rc1", "go2.0"])
def test_a_go_of_the_needed_version_or_newer_is_taken(tiny: Tiny, fake_go: Callable[..., Path], version: str) -> None:
    fake_go(GOVERSION=version)
    assert preflight.check(store.missing(tiny.bundles, tiny.sources)) == version


def test_a_broken_go_is_reported_with_its_own_words(
    tiny: Tiny, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{program('go', 'echo no GOROOT >&2; exit 2').parent}:/bin")
    assert refusal(tiny) == "`go env` failed: no GOROOT\nRepair the Go installation that is first on PATH."


def test_too_little_space_is_told_with_what_is_free_and_what_is_needed(
    tiny: Tiny, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOMODCACHE", str(tiny.root / "modules"))
    monkeypatch.setattr(store, "disk_usage", lambda _: 0)
    free_space(monkeypatch, 0.5)
    assert refusal(tiny) == (
        f"{REFUSED}- {tiny.root}/cache has 0.5 GiB free, the build takes up to 0.6 GiB.\n"
        "  Free some space, or set IGZ_CLUSTERS_CACHE and GOMODCACHE to folders on a larger disk."
    )


def test_space_is_needed_for_what_is_missing_only(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOMODCACHE", str(tiny.root / "modules"))
    monkeypatch.setattr(store, "disk_usage", lambda _: 0)
    free_space(monkeypatch, 0.5)
    assert preflight.check(store.missing([tiny.one], tiny.sources)).startswith("go1.")


def test_what_an_interrupted_build_left_in_the_go_cache_is_not_needed_again(
    tiny: Tiny, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOMODCACHE", str(tiny.root / "modules"))
    monkeypatch.setattr(store, "disk_usage", lambda _: 0.2 * preflight.GIB)
    free_space(monkeypatch, 0.5)
    assert preflight.check(store.missing(tiny.bundles, tiny.sources)).startswith("go1.")


def test_a_whole_cold_build_asks_for_about_20_gib() -> None:
    assert 19 <= sum(bundle.scratch_gib + bundle.download_gib for bundle in BUNDLES) <= 22


def test_a_folder_that_cannot_be_written_is_named_with_its_variable(
    tiny: Tiny, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tiny.root / "file"
    file.touch()
    monkeypatch.setenv("IGZ_CLUSTERS_CACHE", str(file / "cache"))
    monkeypatch.setenv("IGZ_CLUSTERS_DATA", str(file / "data"))
    assert refusal(tiny) == (
        f"{REFUSED}- Cannot write to {file}/cache: Not a directory.\n"
        "  Set IGZ_CLUSTERS_CACHE to a writable folder on a disk with free space.\n"
        f"- Cannot write to {file}/data: Not a directory.\n"
        "  Set IGZ_CLUSTERS_DATA to a writable folder on a disk with free space."
    )


def test_all_problems_are_told_at_once(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(store, "disk_usage", lambda _: 0)
    free_space(monkeypatch, 0)
    assert refusal(tiny) == (
        f"{REFUSED}{NO_GO}\n"
        f"- {tiny.root}/cache has 0.0 GiB free, the build takes up to 0.6 GiB.\n"
        "  Free some space, or set IGZ_CLUSTERS_CACHE and GOMODCACHE to folders on a larger disk."
    )


VERIFICATION_OFF = [
    ("GOSUMDB", "off"),
    ("GOFLAGS", "-insecure"),
    ("GONOSUMDB", "*"),
    ("GONOSUMDB", "example.com,k8s.*"),
    ("GOINSECURE", "k8s.io/kubernetes"),
    ("GONOSUMCHECK", "*"),
]


@pytest.mark.parametrize(("name", "value"), VERIFICATION_OFF)
def test_a_build_with_the_checksum_verification_off_is_refused(
    fake_go: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    fake_go(**{name: value})
    monkeypatch.setenv(name, value)
    with pytest.raises(UserError) as caught:
        preflight.check([store.Entry(bundle) for bundle in BUNDLES])
    assert (
        f"- {name}={value} disables the verification of the pinned modules.\n"
        "  Unset it (`go env -u NAME`), or limit it to your own modules."
    ) in str(caught.value)


def test_a_user_may_except_modules_of_their_own(tiny: Tiny, fake_go: Callable[..., Path]) -> None:
    fake_go(GONOSUMDB="git.example.com,k8s.example.com/*", GOINSECURE="git.example.com")
    entries = [store.Entry(bundle) for bundle in BUNDLES]
    assert preflight._verification_problems(preflight._go_settings(), entries) == []
