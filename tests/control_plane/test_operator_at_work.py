"""The Pulumi Kubernetes Operator itself: it updates stacks on the AWS emulator from a Git repository, wave by wave."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from support.api import Api
from support.aws_emulator import Account, writes
from support.cluster import Cluster, eventually
from support.operators import Operator, install, running
from support.pulumi_operator import ACCOUNT, NAMESPACE, SOURCE, Workspaces, build, installed
from workbench.pulumi_operator.model import SET, is_secret

pytestmark = [
    pytest.mark.control_plane,
    pytest.mark.proofs,
    pytest.mark.skipif(SOURCE not in os.environ, reason=f"needs {SOURCE}: a checkout of the operator at v2.9.0"),
]

OURS: Final = "igz-clusters"
SECRET: Final = "cloud"  # noqa: S105 the name of one
OF_A_RUN: Final = frozenset({*SET, "IGZ_CLUSTERS_STACKS", "PULUMI_BACKEND_URL", "KUBECONFIG"})


@dataclass(frozen=True)
class Operated:
    """Two stacks, and the operator that updates them."""

    cluster: Cluster
    account: Account
    operator: Operator
    workspaces: Workspaces
    objects: Path

    def git(self, *arguments: str) -> None:
        who = ("-c", "user.name=test", "-c", "user.email=test@example.invalid")
        subprocess.run(["git", *who, *arguments], cwd=self.account.stacks, check=True, capture_output=True)

    def commit(self) -> None:
        """Commit the stack files, and apply the objects that name the commit."""
        self.git("add", "--all")
        self.git("commit", "--message", "Change", "--allow-empty")
        self.account.run("operator", "manifests", "--output", str(self.objects))
        self.cluster.kubectl("apply", "--server-side", "--force-conflicts", "--filename", str(self.objects))

    def stack(self, name: str) -> dict[str, Any]:
        return self.cluster.read(f"/apis/pulumi.com/v1/namespaces/{OURS}/stacks/{name}")

    def until(self, look: Callable[[], Any]) -> Any:
        """Run the pods until ``look`` is true, and return its answer."""

        def step() -> Any:
            self.operator.assert_runs()
            self.workspaces.step(OURS)
            return look()

        return eventually(step)

    def ended(self, name: str, failures: int = 0) -> dict[str, Any]:
        """Return the last update of a stack once it is one of its current object."""

        def look() -> Any:
            stack = self.stack(name)
            status = stack.get("status", {})
            last = status.get("lastUpdate", {})
            is_current = last.get("generation") == stack["metadata"]["generation"] and not status.get("currentUpdate")
            return last if is_current and last.get("failures", 0) >= failures else None

        found: dict[str, Any] = self.until(look)
        return found


@pytest.fixture(scope="module")
def operated(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Operated]:
    source, folder = Path(os.environ[SOURCE]), tmp_path_factory.mktemp("operator")
    program, agent = build(source, folder)
    with ExitStack() as stack:
        (folder / "account").mkdir()
        account = stack.enter_context(Account.hollow(folder / "account", "dev", "prod"))
        backend = account.environment()["PULUMI_BACKEND_URL"]
        workspaces = Workspaces(
            cluster, agent, folder / "pods", {"GIT_URL": str(account.stacks), "PULUMI_BACKEND_URL": backend}
        )
        variables = {k: v for k, v in account.environment().items() if k not in OF_A_RUN and os.environ.get(k) != v}
        secret = {name: value for name, value in variables.items() if is_secret(name)}
        choices = {
            "repository": "https://github.com/acme/clusters",
            "image": "registry.example.com/igz-clusters:0.2.0",
            "backend": "s3://acme-state",
            "environment": {name: value for name, value in variables.items() if name not in secret},
            "secretEnvironment": {name: {"secret": SECRET, "key": name} for name in secret},
        }
        (account.stacks / "operator.yaml").write_text(yaml.safe_dump(choices))
        waves = [{"name": "canary", "stacks": ["dev"]}, {"name": "rest", "stacks": ["prod"]}]
        (account.stacks / "fleet.yaml").write_text(yaml.safe_dump({"waves": waves}))

        install(Api(cluster.kubeconfig()), installed(source))
        options = ("--health-probe-bind-address=0", "--program-fs-addr=127.0.0.1:0", "--program-fs-adv-addr=none")
        at = {"POD_NAMESPACE": NAMESPACE, "POD_SA_NAME": ACCOUNT, "WORKSPACE_LOCALHOST": f"127.0.0.1:{workspaces.port}"}
        operator = stack.enter_context(running(cluster, program, ACCOUNT, NAMESPACE, *options, **at))
        stack.callback(workspaces.stop)
        made = Operated(cluster, account, operator, workspaces, folder / "objects")
        made.git("init", "--quiet")
        shared = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": OURS}}
        cluster.apply(shared)
        cluster.apply(
            {
                "apiVersion": "v1",
                "kind": "Secret",
                "metadata": {"name": SECRET, "namespace": OURS},
                "stringData": secret,
            }
        )
        yield made


def test_it_updates_wave_by_wave_and_stops_where_up_is_refused(operated: Operated) -> None:
    aws = operated.account.aws
    operated.account.edit("dev", namespaces__team={})
    operated.commit()
    assert operated.ended("dev")["state"] == "succeeded", operated.workspaces.said[-5000:]
    assert operated.ended("prod")["state"] == "succeeded", operated.workspaces.said[-5000:]
    assert len(aws.inventory()["aws:eks/cluster:Cluster"]) == 2

    last = operated.account.last
    operated.account.edit("dev", namespaces__team=None)
    operated.account.edit("prod", namespaces__other={})
    operated.commit()
    refused = operated.ended("dev")
    assert refused["state"] == "failed"
    assert "without an approval" in operated.workspaces.said
    assert writes(aws.calls(last)) == []
    print(json.dumps(operated.stack("dev")["status"], indent=1))
    print(json.dumps(operated.stack("prod")["status"], indent=1))
