from pathlib import Path

import pytest

from workbench.engine.secrets import passphrase_file
from workbench.system.errors import UserError


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    tmp_path.chmod(0o700)
    monkeypatch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path))
    return tmp_path


def test_a_passphrase_is_made_once_and_is_its_owners_alone(data: Path) -> None:
    first = passphrase_file().read_text()
    assert len(first) > 40
    assert passphrase_file().read_text() == first
    assert oct(passphrase_file().stat().st_mode & 0o777) == "0o600"
    assert sorted(file.name for file in data.iterdir()) == ["passphrase", "passphrase.sha256"]


def test_a_passphrase_of_an_earlier_release_is_taken_over(data: Path) -> None:
    (data / "passphrase").write_text("old")
    assert passphrase_file().read_text() == "old"


@pytest.mark.parametrize("now", ["another", "", None])
def test_another_passphrase_is_refused_with_the_way_back_and_never_printed(data: Path, now: str | None) -> None:
    made = passphrase_file().read_text()
    (data / "passphrase").unlink()
    if now is not None:
        (data / "passphrase").write_text(now)
    with pytest.raises(UserError) as caught:
        passphrase_file()
    assert "Restore the old file." in caught.value.hint
    assert made not in str(caught.value)
    assert str(data / "state") not in caught.value.hint  # there is none to remove
