from collections.abc import Callable
from dataclasses import replace

import pytest

from support.tiny_toolchain import PUBLISHED, Tiny
from workbench.toolchain import store
from workbench.toolchain.recipes import Bundle


def key(tiny: Tiny, bundle: Bundle | None = None) -> str:
    return store.Entry(bundle or tiny.one, tiny.sources).key


@pytest.mark.parametrize("name", ["go.sum", "go.mod", "main.go", "sub/new.go"])
def test_the_key_changes_with_every_file_that_go_reads(tiny: Tiny, name: str) -> None:
    before = key(tiny)
    path = tiny.sources / "one" / name
    path.parent.mkdir(exist_ok=True)
    with path.open("a") as file:
        file.write("\n")
    assert key(tiny) != before


@pytest.mark.parametrize("change", [{"version": "2"}, {"tags": ("x",)}, {"variables": ()}, {"package": "./x"}])
def test_the_key_changes_with_the_recipe(tiny: Tiny, change: dict[str, str]) -> None:
    program = tiny.one.artifacts[0]
    assert key(tiny, replace(tiny.one, artifacts=(replace(program, **change),))) != key(tiny)


def test_the_key_changes_with_the_pins_of_a_module_that_a_file_is_copied_from(tiny: Tiny) -> None:
    bundle = replace(tiny.one, copied=(replace(PUBLISHED, pinned_by="two"),))
    before = key(tiny, bundle)
    (tiny.sources / "two" / "go.sum").write_text("\n")
    assert key(tiny, bundle) != before


@pytest.mark.parametrize("name", ["GOOS", "GOARCH", "GOFLAGS"])
def test_the_key_changes_with_platform_and_flags(tiny: Tiny, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    before = key(tiny)
    monkeypatch.setattr(store, name, "other")
    assert key(tiny) != before


def test_the_key_does_not_change_with_estimates_and_prose(tiny: Tiny) -> None:
    before = key(tiny)
    (tiny.sources / "one" / "README.md").write_text("prose")
    slower = replace(tiny.one.artifacts[0], seconds=99)
    assert key(tiny, replace(tiny.one, artifacts=(slower,), scratch_gib=9.0, download_gib=9.0)) == before


def publish(tiny: Tiny, bundle: Bundle, content: str = "program") -> store.Entry:
    entry = store.Entry(bundle, tiny.sources)
    built = store.staging() / entry.folder.name / "built"
    (built / "bin").mkdir(parents=True)
    (built / "bin" / bundle.name).write_text(content)
    entry.publish(built, "go1.26")
    return entry


@pytest.mark.parametrize(
    "damage",
    [
        lambda entry: entry.file("one").unlink(),
        lambda entry: entry.file("one").write_text("cut"),
        lambda entry: (entry.folder / "manifest.json").unlink(),
        lambda entry: (entry.folder / "manifest.json").write_text("{"),
    ],
    ids=["file gone", "file cut", "manifest gone", "manifest cut"],
)
def test_a_damaged_entry_is_missing(tiny: Tiny, damage: Callable[[store.Entry], object]) -> None:
    entry = publish(tiny, tiny.one)
    assert store.missing([tiny.one], tiny.sources) == []
    damage(entry)
    assert store.missing([tiny.one], tiny.sources) == [entry]


def test_prune_keeps_what_is_current_and_deletes_everything_else(tiny: Tiny) -> None:
    store.go_cache().unlink()  # the one that the tests share
    store.go_cache().mkdir()
    (store.go_cache() / "object").write_bytes(bytes(10_000))
    current = publish(tiny, tiny.one)
    old = publish(tiny, tiny.two)
    leftover = store.staging() / "leftover"
    leftover.mkdir(parents=True)
    assert store.prune([tiny.one], tiny.sources) >= 10_000
    assert current.sizes() == {"one": len("program")}
    assert not any(path.exists() for path in (old.folder, leftover, store.go_cache()))
