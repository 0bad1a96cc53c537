"""Who may run `up`: the cluster lets its deployer in, and not its creator."""

from pathlib import Path

import pytest

from support.aws_emulator import Account, writes
from support.owners_roles import session

pytestmark = pytest.mark.engine


def test_up_with_a_role_that_the_cluster_would_refuse_makes_nothing(tmp_path: Path) -> None:
    with Account.hollow(tmp_path, "dev", is_quick=True) as made:
        last = made.last
        run = made.run(
            *("up", "dev", "--hermetic", "--yes"), check=False, **session(made.aws.api("sts"), "platform-team")
        )
        assert run.returncode == 1
        assert "arn:aws:sts::111122223333:assumed-role/platform-team/test, which is not cluster admin of 'dev'" in (
            run.stderr
        )
        assert "role/igz-clusters-deployer" in run.stderr
        assert [call.operation for call in writes(made.aws.calls(last))] == ["sts:AssumeRole"]
