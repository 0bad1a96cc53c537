"""What `existing identify` prints for a stack file."""

import sys
from pathlib import Path

import pytest

from workbench.cli.existing import identify

UID = "3f1c9a52-7d0e-4b7c-9a35-0c2f8f6d1e77"


@pytest.fixture(autouse=True)
def _only_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("PATH", "HOME"):
        monkeypatch.setenv(variable, str(tmp_path))


def answers(folder: Path, *nodes: dict[str, str]) -> None:
    """Write a kubectl that knows one cluster, whose nodes have the given labels."""
    items = [{"kind": "Node", "metadata": {"name": f"n{i}", "labels": labels}} for i, labels in enumerate(nodes)]
    told = {"namespace": {"metadata": {"uid": UID}}, "nodes": {"items": items}}
    program = folder / "kubectl"
    asked = "sys.argv[sys.argv.index('get') + 1]"
    program.write_text(f"#!{sys.executable}\nimport json, sys\nprint(json.dumps({told!r}[{asked}]))\n")
    program.chmod(0o700)


@pytest.mark.parametrize(("place", "printed"), [("~/clusters/on-prem", "~/clusters/on-prem"), ("/etc/kc", "/etc/kc")])
def test_a_kubeconfig_in_somebodys_home_is_printed_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], place: str, printed: str
) -> None:
    answers(tmp_path)
    identify("on-prem", kubeconfig=place)
    monkeypatch.chdir(tmp_path)
    identify("on-prem", kubeconfig=str(Path(place).expanduser()))
    told = capsys.readouterr().out
    assert told.count(f"  kubeconfig: {printed}\n") == 2
    assert UID in told


@pytest.mark.parametrize(
    ("nodes", "said"),
    [
        ([], ["No nodes: a stack needs nodes, selected by their labels."]),
        ([{"pool": "a"}], ["1 node."]),
        ([{"pool": "a"}] * 2, ["2 nodes. All have the same labels."]),
        (
            [{"pool": "a"}, {"pool": "a"}, {"pool": "b"}],
            ["3 nodes. Labels that only some of them have:", "  pool: a  (2 of 3)", "  pool: b  (1 of 3)"],
        ),
    ],
)
def test_what_tells_nodes_apart_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], nodes: list[dict[str, str]], said: list[str]
) -> None:
    answers(tmp_path, *nodes)
    identify("on-prem")
    assert capsys.readouterr().err.splitlines() == said
