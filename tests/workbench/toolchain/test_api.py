import os
from collections.abc import Callable
from pathlib import Path

import pytest

from support.tiny_toolchain import Tiny
from workbench.system.errors import UserError
from workbench.toolchain import api, store
from workbench.toolchain.build import build_missing
from workbench.toolchain.recipes import BUNDLES, Bundle

Program = Callable[[str, str], Path]


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Bundle], None]:
    """Fill a cache of the test's own with stand-ins; nothing can be built, for there is no Go."""
    monkeypatch.setenv("IGZ_CLUSTERS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))

    def fill(bundle: Bundle) -> None:
        folder = store.staging() / bundle.name
        (folder / "bin").mkdir(parents=True)
        for name in bundle.versions:
            (folder / "bin" / name).write_text("#!/bin/sh\n")
            (folder / "bin" / name).chmod(0o755)
        store.Entry(bundle).publish(folder, "go1.26")

    return fill


@pytest.fixture
def cached(built: Callable[[Bundle], None]) -> None:
    for bundle in BUNDLES:
        built(bundle)


@pytest.mark.usefixtures("cached")
def test_a_filled_cache_yields_every_program_without_go() -> None:
    toolchain = api.ensure()
    assert set(toolchain.binaries) == set(api.names())
    assert toolchain.pulumi.read_text() == "#!/bin/sh\n"
    assert toolchain.path("kubectl").parent == toolchain.path("etcd").parent


def test_only_the_bundles_of_wanted_programs_are_needed(built: Callable[[Bundle], None]) -> None:
    built(next(bundle for bundle in BUNDLES if bundle.name == "kubernetes"))
    assert "kube-apiserver" in api.ensure(["kubectl"]).binaries
    with pytest.raises(UserError, match="Go is not on PATH"):
        api.ensure(["kubectl", "kwok"])


def test_an_unknown_program_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match=r"unknown programs \['kubelet'\]"):
        api.ensure(["kubelet", "etcd"])


@pytest.mark.parametrize(
    ("version", "taken"),
    [
        ("v3.249.9", False),
        ("v3.250.0", True),
        ("3.259.0", True),
        ("v3.300.0-dev.1", True),
        ("v4.0.0", True),
        ("v2.999.0", False),
        ("", False),
    ],
)
@pytest.mark.usefixtures("cached")
def test_a_users_pulumi_is_taken_if_it_is_new_enough(program: Program, version: str, taken: bool) -> None:
    own = program("pulumi", f"echo {version}")
    program("pulumi-language-python", "")
    assert (api.select_pulumi() == own) is taken
    assert (api.ensure().pulumi == own) is taken


@pytest.mark.usefixtures("cached")
def test_a_users_pulumi_brings_its_language_host_and_ours_is_not_built(
    program: Program, built: Callable[[Bundle], None]
) -> None:
    own = program("pulumi", "echo v3.260.0")
    host = program("pulumi-language-python", "")
    engine = next(bundle for bundle in BUNDLES if bundle.name == "engine")
    store.drop(store.Entry(engine).folder)
    toolchain = api.ensure()
    assert (toolchain.pulumi, toolchain.path("pulumi-language-python")) == (own, host)
    assert toolchain.path("pulumi-resource-kubernetes").is_relative_to(store.home())


@pytest.mark.usefixtures("cached")
def test_a_users_pulumi_without_a_language_host_beside_it_is_not_taken(program: Program) -> None:
    program("pulumi", "echo v3.260.0")
    assert api.select_pulumi() is None


@pytest.mark.usefixtures("cached")
def test_a_hermetic_toolchain_takes_nothing_of_the_users(program: Program) -> None:
    program("pulumi", "echo v3.260.0")
    program("pulumi-language-python", "")
    assert api.ensure(hermetic=True).pulumi.is_relative_to(store.home())


@pytest.mark.usefixtures("cached")
def test_our_own_pulumi_on_path_is_not_taken_for_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = api.ensure(hermetic=True).pulumi
    ours.write_text("#!/bin/sh\necho v3.259.0\n")
    monkeypatch.setenv("PATH", f"{ours.parent}{os.pathsep}{os.environ['PATH']}")
    assert api.select_pulumi() is None


def test_status_tells_what_is_built_and_what_is_not(built: Callable[[Bundle], None]) -> None:
    kwok = next(bundle for bundle in BUNDLES if bundle.name == "kwok")
    built(kwok)
    rows = {row.name: row for row in api.status()}
    assert rows["kwok"] == api.Row("kwok", "0.8.0", built=True, size=10, path=store.Entry(kwok).file("kwok"))
    assert {row.name for row in rows.values() if not row.built} == set(api.names()) - {"kwok"}


@pytest.mark.usefixtures("cached")
def test_prerequisites_are_not_asked_for_when_everything_is_built() -> None:
    api.check_prerequisites()


@pytest.mark.usefixtures("built")
def test_missing_prerequisites_are_told_before_a_build() -> None:
    with pytest.raises(UserError, match="Go is not on PATH"):
        api.check_prerequisites()


def test_a_prebuilt_cache_serves_from_another_folder(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    build_missing(tiny.bundles, sources=tiny.sources, keep_build_cache=True)
    moved = tiny.root / "moved"
    (tiny.root / "cache").rename(moved)
    monkeypatch.setenv("IGZ_CLUSTERS_CACHE", str(moved))
    assert store.missing(tiny.bundles, tiny.sources) == []
