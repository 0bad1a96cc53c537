"""What `up` of a local stack does with what the state records."""

from pathlib import Path
from unittest.mock import Mock

import pytest

from workbench import stacks
from workbench.cli import stack
from workbench.report.events import STACK_TYPE
from workbench.system.paths import PROJECT_ROOT


def test_up_rewrites_a_record_of_pools_that_it_cannot_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    recorded = {"urn": "urn:pulumi:s::p::x::p-s", "type": STACK_TYPE, "outputs": {"pools": "damaged"}}
    monkeypatch.setattr(stack.StateFiles, "deployment", lambda _: {"resources": [recorded]})
    monkeypatch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path / "data"))
    ready = Mock(stack=stacks.read(PROJECT_ROOT / "Pulumi.local.yaml"))
    assert stack._lost_pods(ready) == []
    assert capsys.readouterr().err == (
        "note: The state's output 'pools' cannot be read. So `up` cannot protect running pods on removed nodes.\n"
    )
    ready.api.run.assert_not_called()
