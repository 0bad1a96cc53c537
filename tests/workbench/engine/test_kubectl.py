"""What a user sees when kubectl cannot ask the cluster."""

import sys
from pathlib import Path

import pytest

from workbench.engine.kubectl import Api
from workbench.system.errors import UserError

LOGGED = 'E1122 01:12:12.085042    2005 memcache.go:265] "Unhandled Error" err="connection refused"'
REFUSED = "The connection to the server 127.0.0.1:9 was refused - did you specify the right host or port?"


def told(folder: Path, said: str, *, context: str = "on-prem", kubeconfig: Path | None = None, **variables: str) -> str:
    """Return the error of a cluster about which kubectl says something."""
    program = folder / "kubectl"
    program.write_text(f"#!{sys.executable}\nimport sys\nsys.exit({said!r})\n")
    program.chmod(0o700)
    with pytest.raises(UserError) as raised:
        Api(program, kubeconfig, variables, context).run("get", "nodes")
    return str(raised.value)


def test_an_unreachable_cluster_is_named_once_with_a_way_to_try(tmp_path: Path) -> None:
    assert told(tmp_path, f"{LOGGED}\n{LOGGED}\n{REFUSED}") == (
        f"The cluster does not answer: {REFUSED}\n"
        "Make sure that `kubectl --context=on-prem get --raw /readyz` prints ok."
    )


def test_what_is_only_logged_is_better_than_nothing(tmp_path: Path) -> None:
    assert told(tmp_path, LOGGED, context="") == f"The cluster does not answer: {LOGGED}"


def test_a_context_that_is_not_there_is_no_cluster_that_does_not_answer(tmp_path: Path) -> None:
    said = "Error in configuration: context was not found for specified context: on-prem"
    beginning = "Context 'on-prem' not found in"
    assert told(tmp_path, said).startswith(f"{beginning} ~/.kube/config.\n`kubectl config get-contexts -o name`")
    assert told(tmp_path, said, KUBECONFIG="/etc/cluster").startswith(f"{beginning} /etc/cluster.")
    named = told(tmp_path, said, kubeconfig=Path("/etc/named"), KUBECONFIG="/etc/cluster")
    assert named.startswith(f"{beginning} /etc/named.")


def test_a_cluster_that_refuses_does_answer(tmp_path: Path) -> None:
    said = 'Error from server (Forbidden): nodes is forbidden: User "me" cannot list resource "nodes"'
    assert told(tmp_path, said) == f"The cluster refuses the request: {said}"
