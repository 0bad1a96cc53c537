from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.starter import pin_of
from workbench.system.errors import UserError

Git = Callable[..., str]


@pytest.fixture
def checkout(tmp_path: Path, git: Git) -> Path:
    (tmp_path / "checkout").mkdir()
    git("init", "--quiet", "checkout")
    git("commit", "--quiet", "--allow-empty", "--message", "First", folder="checkout")
    return tmp_path / "checkout"


def test_the_newest_release_tag_at_the_commit_is_the_pin(checkout: Path, git: Git) -> None:
    for tag in ("v0.9.0", "v0.10.0", "deployed"):
        git("tag", tag, folder="checkout")
    pin = pin_of(checkout, "https://example.invalid/r.git")
    assert (pin.tag, pin.commit) == ("v0.10.0", git("rev-parse", "HEAD", folder="checkout"))
    assert pin.notes == ()


def test_an_annotated_tag_pins_its_commit_and_not_itself(checkout: Path, git: Git) -> None:
    git("tag", "--annotate", "v1.0.0", "--message", "One", folder="checkout")
    assert pin_of(checkout).commit == git("rev-parse", "HEAD", folder="checkout")


def test_without_a_tag_the_pin_is_the_commit_and_says_so(checkout: Path, git: Git) -> None:
    git("tag", "v0.1.0", folder="checkout")
    git("commit", "--quiet", "--allow-empty", "--message", "Second", folder="checkout")
    pin = pin_of(checkout, "https://example.invalid/r.git")
    assert pin.tag == ""
    assert [note for note in pin.notes if "No release tag" in note]


def test_the_source_is_the_origin(checkout: Path, git: Git) -> None:
    git("remote", "add", "origin", "git@example.invalid:team/r.git", folder="checkout")
    assert pin_of(checkout).source == "git@example.invalid:team/r.git"


def test_a_password_in_the_address_of_the_origin_is_left_out_and_told(checkout: Path, git: Git) -> None:
    git("remote", "add", "origin", "https://me:s3cret@example.invalid:8443/r.git", folder="checkout")
    pin = pin_of(checkout)
    assert pin.source == "https://example.invalid:8443/r.git"
    assert [note for note in pin.notes if "password" in note]
    assert "s3cret" not in repr(pin)


def test_an_origin_that_is_a_folder_is_named_as_seen_from_anywhere(checkout: Path, git: Git, tmp_path: Path) -> None:
    git("clone", "--quiet", "checkout", "clone")
    git("remote", "set-url", "origin", "../checkout", folder="clone")
    assert pin_of(tmp_path / "clone").source == str(checkout)


def test_without_an_origin_the_source_is_the_checkout_and_says_so(checkout: Path) -> None:
    pin = pin_of(checkout)
    assert pin.source == str(checkout)
    assert [note for note in pin.notes if "no remote 'origin'" in note]


def test_changes_that_are_not_committed_are_told(checkout: Path) -> None:
    (checkout / "new").touch()
    assert [note for note in pin_of(checkout).notes if "uncommitted changes" in note]


@pytest.mark.parametrize("source", ["", "a b", "x'y", "$(shell id)", "a#b", "a;b", "a\nb"])
def test_a_source_that_make_or_a_shell_would_read_as_its_own_is_refused(checkout: Path, source: str) -> None:
    with pytest.raises(UserError, match="contains a character"):
        pin_of(checkout, source)


def test_a_folder_inside_another_repository_is_no_checkout(checkout: Path) -> None:
    (checkout / "unpacked").mkdir()
    with pytest.raises(UserError, match="is not a Git checkout"):
        pin_of(checkout / "unpacked")


def test_a_checkout_without_a_commit_is_refused(tmp_path: Path, git: Git) -> None:
    git("init", "--quiet", "empty")
    with pytest.raises(UserError, match="has no commit"):
        pin_of(tmp_path / "empty")
