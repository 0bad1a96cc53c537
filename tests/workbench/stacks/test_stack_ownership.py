from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import pytest

from workbench import stacks
from workbench.stacks import stack_ownership
from workbench.system.errors import UserError
from workbench.system.paths import PROJECT_ROOT

Maker = Callable[[str], stacks.Stack]


@pytest.fixture(autouse=True)
def own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path / "data"))


@pytest.fixture
def stack_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Maker:
    def make(repository: str) -> stacks.Stack:
        folder = tmp_path / repository
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "Pulumi.mine.yaml").write_text((PROJECT_ROOT / "Pulumi.local.yaml").read_text())
        monkeypatch.setenv(stacks.FOLDER_VARIABLE, str(folder))
        return stacks.find("mine")

    return make


def test_the_first_stack_file_owns_its_name_and_may_use_it_again(stack_in: Maker) -> None:
    stack = stack_in("first")
    assert not stack_ownership.claim(stack)
    assert not stack_ownership.claim(stack)


def test_a_stack_of_the_same_name_elsewhere_is_refused_with_every_way_out(stack_in: Maker) -> None:
    first, second = stack_in("first"), stack_in("second")
    stack_ownership.claim(first)
    with pytest.raises(UserError) as caught:
        stack_ownership.claim(second)
    assert str(first.file) in caught.value.message
    assert str(second.file) in caught.value.message
    assert f"igz-clusters -C {first.file.parent} destroy mine" in caught.value.hint
    assert "renaming its file" in caught.value.hint
    assert "IGZ_CLUSTERS_DATA" in caught.value.hint
    assert not stack_ownership.claim(first)


def test_a_destroyed_stack_frees_its_name(stack_in: Maker) -> None:
    first, second = stack_in("first"), stack_in("second")
    stack_ownership.claim(first)
    stack_ownership.release(first)
    assert not stack_ownership.claim(second)


def test_a_repository_that_was_moved_keeps_its_cluster_and_is_told(stack_in: Maker) -> None:
    first = stack_in("first")
    stack_ownership.claim(first)
    first.file.parent.rename(first.file.parent.with_name("moved"))
    moved = stack_in("moved")
    assert str(first.file) in stack_ownership.claim(moved)
    assert not stack_ownership.claim(moved)


def test_a_command_that_reads_changes_no_owner(stack_in: Maker, tmp_path: Path) -> None:
    first, second = stack_in("first"), stack_in("second")
    assert not stack_ownership.check(first)
    assert not (tmp_path / "data" / "owners").exists()
    stack_ownership.claim(first)
    assert not stack_ownership.check(first)
    with pytest.raises(UserError, match=r"belong to .*first"):
        stack_ownership.check(second)
    first.file.unlink()
    for _ in range(2):
        assert str(first.file) in stack_ownership.check(second)
    assert str(first.file) in stack_ownership.claim(second)


def test_the_stack_file_of_an_installed_package_gives_way_to_a_copy_and_to_another_release(stack_in: Maker) -> None:
    releases = [stack_in(f"{release}/igz_clusters") for release in ("0.1.0", "0.2.0")]
    for each in releases:
        (each.file.parent.parent / "igz-clusters.pth").touch()
    copy = stack_in("copy")
    for before, after in pairwise((*releases, copy)):
        stack_ownership.claim(before)
        assert str(before.file) in stack_ownership.claim(after)
        assert not stack_ownership.claim(after)
    with pytest.raises(UserError, match=r"belong to .*copy"):
        stack_ownership.claim(releases[1])


def test_of_two_first_commands_at_once_one_wins(stack_in: Maker) -> None:
    for _ in range(20):
        contenders = [stack_in("first"), stack_in("second")]

        def attempt(stack: stacks.Stack) -> str | None:
            try:
                stack_ownership.claim(stack)
            except UserError:
                return None
            return str(stack.file)

        with ThreadPoolExecutor() as pool:
            winners = [file for file in pool.map(attempt, contenders) if file]
        assert len(winners) == 1
        stack_ownership.release(contenders[0])
