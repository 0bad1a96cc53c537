"""What others have in a cluster that a stack created stays theirs, with a real API server inside the cloud."""

from pathlib import Path

import pytest

from support.aws_emulator import Account
from support.azure_emulator import Subscription
from support.lives import SMALL

pytestmark = [pytest.mark.control_plane, pytest.mark.full]


@pytest.mark.parametrize(
    ("kind", "stack"),
    # What is compared is in Kubernetes, so that the cloud makes no difference but in access.
    [(Account, "dev"), pytest.param(Subscription, "aks-dev", marks=pytest.mark.proofs)],
)
def test_a_namespace_that_a_user_created_is_neither_taken_over_nor_deleted(
    kind: type[Account | Subscription], stack: str, tmp_path: Path
) -> None:
    with kind.opened(tmp_path, stack, is_quick=True) as made:
        made.edit(stack, **SMALL)
        made.run("up", stack, "--hermetic", "--yes")
        made.kubectl("create", "namespace", "team")
        made.edit(stack, namespaces__team={})
        refused = made.run("up", stack, "--hermetic", "--yes", check=False)
        assert refused.returncode == 1
        assert "- Namespace team: found an object of another owner" in refused.stderr
        assert "pulumi.com" not in made.kubectl("get", "namespace", "team", "-o", "yaml")
        made.kubectl("delete", "namespace", "team")
        made.run("up", stack, "--hermetic", "--yes")
        assert "Namespace team" in made.objects()
