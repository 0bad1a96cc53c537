import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from components.contract.labels import AnnotationKey, LabelKey
from infra.config import StackConfig, parse
from workbench.engine.kubectl import Api
from workbench.engine.pool_status import pool_rows, show

POOLS = {
    "initial": {"role": "initial", "size": {"min": 1, "max": 1}, "instanceTypes": ["m6i.2xlarge"]},
    "jobs": {"role": "workload", "size": {"min": 1, "max": 5}, "instanceTypes": ["m6i.2xlarge", "m6i.4xlarge"]},
}


def node(pool: str, group: str = "", *, ready: bool = True) -> dict[str, Any]:
    return {
        "metadata": {
            "labels": {LabelKey.POOL.value: pool},
            "annotations": {AnnotationKey.GROUP.value: group} if group else {},
        },
        "status": {"conditions": [{"type": "Ready", "status": str(ready)}]},
    }


NODES = [
    node("initial"),
    node("jobs", "jobs"),
    node("jobs", "jobs-16cpu-64gib"),
    node("jobs", "jobs-16cpu-64gib", ready=False),
]


@pytest.fixture
def config() -> StackConfig:
    return parse({"schemaVersion": 1, "environment": "dev", "cluster": {"kind": "local"}, "pools": POOLS})


@pytest.fixture
def kubectl(tmp_path: Path) -> Path:
    """Return a stand-in that lists ``NODES``, whatever it is asked."""
    (tmp_path / "nodes.json").write_text(json.dumps({"items": NODES}))
    program = tmp_path / "kubectl"
    program.write_text(f"#!/bin/sh\ncat {tmp_path / 'nodes.json'}\n")
    program.chmod(0o755)
    return program


def test_nodes_are_counted_by_the_group_that_they_were_made_from(config: StackConfig, kubectl: Path) -> None:
    rows = pool_rows(config, Api(kubectl, Path("kubeconfig"), {}))
    assert [(row.pool, row.group, row.ready, row.nodes, row.min, row.max) for row in rows] == [
        ("initial", "initial", 1, 1, 1, 1),
        ("jobs", "jobs", 1, 1, 1, 5),
        ("jobs", "jobs-16cpu-64gib", 1, 2, 0, 5),
    ]


def test_the_table_names_every_group_with_its_machines(
    config: StackConfig, kubectl: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    show(pool_rows(config, Api(kubectl, Path("kubeconfig"), {})), as_json=False, console=Console(width=120))
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [line[0] for line in lines[:4]] == ["group", "initial", "jobs", "jobs-16cpu-64gib"]
    assert lines[3][-1] == "m6i.4xlarge"
