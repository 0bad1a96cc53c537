"""The ways into an AKS stack on the Azure emulator: `status`, `kubeconfig`, `kubectl` and `env`."""

import json
import subprocess
from collections.abc import Iterator

import pytest

from support.azure_emulator import Subscription
from workbench.system.paths import PROJECT_ROOT

pytestmark = [pytest.mark.control_plane, pytest.mark.full]

STACK = "aks-dev"


@pytest.fixture(scope="module")
def azure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Subscription]:
    with Subscription.opened(tmp_path_factory.mktemp("access"), STACK, is_quick=True) as made:
        yield made


def test_each_command_says_how_to_create_what_is_not_there_and_then_reaches_it(azure: Subscription) -> None:
    absent = azure.run("status", STACK, "--hermetic", check=False)
    assert (absent.returncode, "not created" in absent.stdout) == (3, True), absent.stdout + absent.stderr
    for command in (("kubeconfig", STACK), ("kubectl", STACK, "get", "nodes")):
        refused = azure.run(*command, check=False)
        assert (refused.returncode, refused.stdout) == (1, "")
        assert f"`igz-clusters up {STACK}` creates it." in refused.stderr
    azure.run("up", STACK, "--hermetic", "--yes")

    found = json.loads(azure.run("status", STACK, "--hermetic", "--json").stdout)
    assert (found["condition"], found["kind"]) == ("up", "aks")
    groups = {row["group"]: row for row in found["groups"]}
    assert {"initial", "workload"} <= groups.keys()
    assert [row["recorded"]["max"] for row in groups.values()] == [row["declared"]["max"] for row in groups.values()]

    file = azure.run("kubeconfig", STACK, "--hermetic").stdout.strip()
    namespaces = azure.run("kubectl", STACK, "get", "namespaces", "-o", "name").stdout
    assert "namespace/mlrun" in namespaces
    script = f'eval "$("$@" env {STACK} --hermetic)"; echo "$KUBECONFIG"; kubectl get namespaces -o name; pulumi stack'
    shown = subprocess.run(
        ["sh", "-euc", script, "sh", *azure.command],
        cwd=PROJECT_ROOT,
        env=azure.environment(),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.startswith(f"{file}\n{namespaces}")
    assert f"Current stack is {STACK}" in shown.stdout
