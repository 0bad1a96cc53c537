"""What `existing identify` prints for a stack file."""

import sys
from pathlib import Path

import pytest

from workbench.cli.existing import identify

ANSWERS = {
    "namespace": {"metadata": {"uid": "3f1c9a52-7d0e-4b7c-9a35-0c2f8f6d1e77"}},
    "nodes": {"items": []},
}


@pytest.mark.parametrize(("place", "printed"), [("~/clusters/on-prem", "~/clusters/on-prem"), ("/etc/kc", "/etc/kc")])
def test_a_kubeconfig_in_somebodys_home_is_printed_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], place: str, printed: str
) -> None:
    program = tmp_path / "kubectl"
    asked = "sys.argv[sys.argv.index('get') + 1]"
    program.write_text(f"#!{sys.executable}\nimport json, sys\nprint(json.dumps({ANSWERS!r}[{asked}]))\n")
    program.chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    identify("on-prem", kubeconfig=place)
    monkeypatch.chdir(tmp_path)
    identify("on-prem", kubeconfig=str(Path(place).expanduser()))
    told = capsys.readouterr().out
    assert told.count(f"  kubeconfig: {printed}\n") == 2
    assert "3f1c9a52-7d0e-4b7c-9a35-0c2f8f6d1e77" in told
