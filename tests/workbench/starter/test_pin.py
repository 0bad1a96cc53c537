import json
from collections.abc import Callable
from importlib.metadata import Distribution
from os import PathLike
from pathlib import Path

import pytest
from typing_extensions import override

from workbench.starter import pin_of, pin_of_wheel
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


class Installed(Distribution):
    """Version 1.0.0 of this package, as pip and uv leave it."""

    def __init__(self, **recorded: object) -> None:
        self._files = {"METADATA": "Name: igz-clusters\nVersion: 1.0.0\n", "direct_url.json": json.dumps(recorded)}
        if not recorded:
            del self._files["direct_url.json"]

    @override
    def read_text(self, filename: str) -> str | None:
        return self._files.get(filename)

    @override
    def locate_file(self, path: str | PathLike[str]) -> Path:
        return Path(path)


def from_git(url: str, revision: str) -> Installed:
    commit = "0123456789" * 4
    return Installed(url=url, vcs_info={"vcs": "git", "requested_revision": revision, "commit_id": commit})


def test_a_package_that_was_installed_from_git_knows_its_pin() -> None:
    pin = pin_of_wheel(from_git("https://me:s3cret@example.invalid/r.git", "v1.0.0"))
    assert (pin.source, pin.tag, pin.commit) == ("https://example.invalid/r.git", "v1.0.0", "0123456789" * 4)
    assert [note for note in pin.notes if "password" in note]
    assert pin_of_wheel(from_git("https://example.invalid/r.git", "main")).tag == ""


def test_a_source_goes_before_that_of_the_installation() -> None:
    pin = pin_of_wheel(from_git("https://example.invalid/r.git", "v1.0.0"), "https://mirror.invalid/r.git")
    assert (pin.source, pin.tag, pin.notes) == ("https://mirror.invalid/r.git", "v1.0.0", ())


@pytest.mark.parametrize("tag", [("v1.0.0",), ("--annotate", "v1.0.0", "--message", "One")])
def test_a_wheel_is_pinned_to_the_commit_of_its_versions_tag(checkout: Path, git: Git, tag: tuple[str, ...]) -> None:
    git("tag", *tag, folder="checkout")
    git("commit", "--quiet", "--allow-empty", "--message", "Second", folder="checkout")
    pin = pin_of_wheel(Installed(url="file:///w.whl", archive_info={}), str(checkout))
    assert (pin.source, pin.tag) == (str(checkout), "v1.0.0")
    assert pin.commit == git("rev-parse", "v1.0.0^{commit}", folder="checkout")


def test_a_wheel_without_a_repository_or_a_tag_in_it_is_refused(checkout: Path) -> None:
    with pytest.raises(UserError, match="--source URL"):
        pin_of_wheel(Installed())
    with pytest.raises(UserError, match=r"tag v1\.0\.0 .* was not found at"):
        pin_of_wheel(Installed(), str(checkout))
    with pytest.raises(UserError, match="contains a character"):
        pin_of_wheel(Installed(), "--upload-pack=x")
