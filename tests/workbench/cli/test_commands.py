"""The list of commands imports none of them, and says what each says of itself."""

import pytest

from support.offline import imported_by
from workbench.cli.commands import COMMANDS, Commands

HEAVY = {"pulumi", "pydantic", "yaml", "rich", "cryptography", "psutil", "grpc", "google", "botocore", "boto3", "azure"}
OURS = {"infra", "components", "policies", "workbench.stacks", "workbench.engine", "workbench.local"}


def test_help_imports_no_command_and_none_of_what_they_need() -> None:
    run = "import io, sys; told, sys.stdout = sys.stdout, io.StringIO(); sys.argv = ['igz-clusters', '--help']\n"
    run += "from workbench.cli import main\ntry:\n    main()\nexcept SystemExit as end:\n    assert not end.code\n"
    run += "assert 'Commands:' in sys.stdout.getvalue(); sys.stdout = told"
    imported = imported_by(run)
    assert imported & (HEAVY | OURS) == set()
    assert {name for name in imported if name.startswith("workbench.cli.")} == {
        "workbench.cli.app",
        "workbench.cli.commands",
    }


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_says_of_a_command_what_it_says_itself(name: str) -> None:
    first, *_ = (Commands()[name].help or "").split("\n\n")
    assert " ".join(first.split()) == COMMANDS[name].help
