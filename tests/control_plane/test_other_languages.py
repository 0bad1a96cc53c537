"""A local cluster from programs in other languages: up, up again, and down."""

import os
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from support.cluster import changes, new_cluster, user_environment
from support.programs import EXAMPLES, Pulumi, in_typescript, in_yaml, languages
from workbench.system.paths import FOLDER_VARIABLE

pytestmark = [pytest.mark.control_plane, pytest.mark.full]


@pytest.mark.parametrize(
    ("program", "example", "initial"),
    [(in_yaml, "yaml", 2), (in_typescript, "typescript", 3)],
    ids=["yaml", "typescript"],
)
def test_a_program_makes_a_local_cluster_leaves_it_alone_and_takes_it_away(
    tmp_path: Path, program: Callable[[Pulumi, Path], Path], example: str, initial: int
) -> None:
    for folder in ("data", "stacks"):
        (tmp_path / folder).mkdir(mode=0o700)
    shutil.copy(EXAMPLES / example / "Pulumi.local.yaml", tmp_path / "stacks")
    with new_cluster(tmp_path / "data") as cluster:
        variables = {FOLDER_VARIABLE: str(tmp_path / "stacks")}
        printed = cluster.command("env", "local", "--hermetic", check=True, **variables).stdout
        own = dict(shlex.split(line)[1].split("=", 1) for line in printed.splitlines())
        path = os.pathsep.join([str(languages()), own["PATH"]])
        pulumi = Pulumi(str(shutil.which("pulumi", path=own["PATH"])), {**user_environment(), **own, "PATH": path})
        made = program(pulumi, tmp_path / "program")

        pulumi.output(made, "up", "--yes", "--skip-preview")
        assert len(cluster.nodes(pool="initial")) == initial
        assert "igz-workload-low" in cluster.kubectl("get", "priorityclasses").stdout
        assert changes(pulumi.output(made, "up", "--yes", "--skip-preview")).endswith(" unchanged")

        pulumi.output(made, "destroy", "--yes", "--skip-preview")
        assert cluster.nodes(pool="initial") == {}
