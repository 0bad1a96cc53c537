import base64
import hashlib
import sys
from importlib.metadata import Distribution
from pathlib import Path

import pytest

from workbench import cli
from workbench.system import installation
from workbench.system.errors import UserError
from workbench.system.installation import PACKAGES, altered, is_from_wheel, require_own_environment


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Pretend that this package was installed from a wheel into an environment; return its folder."""
    folder = tmp_path / "lib" / "python3.11" / "site-packages" / "igz_clusters"
    for name in PACKAGES:
        (folder / name).mkdir(parents=True)
    folder.with_name("igz-clusters.pth").write_text("igz_clusters\n")
    monkeypatch.setattr(installation, "PROJECT_ROOT", folder)
    monkeypatch.setattr(installation, "_place", lambda name: folder / name)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    return folder


def test_this_checkout_finds_its_own_packages() -> None:
    assert not is_from_wheel()
    require_own_environment()


def test_a_wheel_in_an_environment_is_at_home(wheel: Path) -> None:
    assert is_from_wheel()
    require_own_environment()
    assert wheel.is_dir()


def test_a_wheel_outside_an_environment_is_refused(wheel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "prefix", "/usr")
    with pytest.raises(UserError, match=f"is installed in {wheel.parent}, outside an environment"):
        require_own_environment()


def test_a_wheel_whose_files_are_links_into_a_cache_is_not_said_to_be_other_software(
    wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache" / "igz_clusters"
    cache.mkdir(parents=True)
    cache.with_name("igz-clusters.pth").touch()
    monkeypatch.setattr(installation, "PROJECT_ROOT", cache)
    monkeypatch.setattr(installation, "_place", lambda name: wheel / name)
    with pytest.raises(UserError, match=f"is installed in {cache.parent}, outside an environment"):
        require_own_environment()


def test_a_wheel_near_the_root_of_the_file_system_is_refused_without_a_traceback(
    wheel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installation, "PROJECT_ROOT", Path("/srv/igz_clusters"))
    monkeypatch.setattr(installation, "_place", lambda name: Path("/srv/igz_clusters") / name)
    monkeypatch.setattr(installation, "is_from_wheel", lambda: True)
    with pytest.raises(UserError, match="is installed in /srv, outside an environment"):
        require_own_environment()


@pytest.mark.parametrize("name", PACKAGES)
def test_other_software_with_a_package_of_the_same_name_is_named(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, name)
    with pytest.raises(SystemExit, match=rf"^error: Other software .* igz-clusters: {name} \({tmp_path / name}\)\."):
        cli.main()


def test_a_module_of_the_same_name_is_named_by_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "policies.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "policies", raising=False)
    with pytest.raises(UserError, match=rf"policies \({tmp_path / 'policies.py'}\)"):
        require_own_environment()


def test_a_folder_of_the_same_name_without_code_is_no_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "infra").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "infra", raising=False)
    require_own_environment()


@pytest.mark.parametrize("is_linked", [False, True])
def test_files_that_are_not_as_they_were_installed_are_named(tmp_path: Path, is_linked: bool) -> None:
    place = tmp_path / "place"
    recorded, packages = place / "a-1.dist-info" / "RECORD", place / "a" / "policies"
    for folder in (recorded.parent, packages, place / "a" / "policies" / "__pycache__"):
        folder.mkdir(parents=True)
    lines = ["a-1.dist-info/RECORD,,"]
    for name in ("same", "edited", "gone"):
        (packages / f"{name}.py").write_text("1\n")
        digest = base64.urlsafe_b64encode(hashlib.sha256(b"1\n").digest()).decode().rstrip("=")
        lines.append(f"a/policies/{name}.py,sha256={digest},2")
    recorded.write_text("\n".join(lines))
    (packages / "edited.py").write_text("2\n")
    (packages / "gone.py").unlink()
    (packages / "new.py").write_text("3\n")
    (packages / "__pycache__" / "same.pyc").write_text("4\n")
    if is_linked:
        (tmp_path / "link").symlink_to(place)
        place = tmp_path / "link"
    found = altered(Distribution.at(place / "a-1.dist-info"), place / "a")
    assert found == ["policies/edited.py", "policies/gone.py", "policies/new.py"]
    recorded.unlink()
    assert altered(Distribution.at(place / "a-1.dist-info"), place / "a") == ["RECORD"]
