"""docs/mlrun-ce.md: the commands for the local cluster run as they stand there."""

import re
import shlex
from pathlib import Path
from typing import Final

import pytest
import yaml

from support.cluster import Cluster
from workbench.system.paths import PROJECT_ROOT

pytestmark = [pytest.mark.control_plane, pytest.mark.full]

PAGE: Final = (PROJECT_ROOT / "docs/mlrun-ce.md").read_text()
LOCAL: Final = PAGE.partition("## On this machine")[2].partition("\n## ")[0]
NOT_RUN: Final = "# not run: "


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def test_a_job_for_spot_nodes_gets_one(cluster: Cluster, tmp_path: Path) -> None:
    (job,), (commands,) = blocks(LOCAL, "yaml"), blocks(LOCAL, "sh")
    (tmp_path / "job.yaml").write_text(job)
    for line in commands.splitlines():
        program, *words = shlex.split(line)
        assert program == "igz-clusters", line
        cluster.command(*(str(tmp_path / word) if word.endswith(".yaml") else word for word in words))
        if "wait" in words:
            assert cluster.pool_of("spot-job") == "spot"
    assert "mlrun" in yaml.safe_load((tmp_path / "values.yaml").read_text())


def test_every_other_block_says_why_it_is_not_run() -> None:
    others = blocks(PAGE.replace(LOCAL, ""), "sh")
    assert others
    assert [block for block in others if not block.startswith(NOT_RUN)] == []
