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
from support.cluster import Cluster, eventually, running_cluster
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

    def conditions(self, name: str) -> dict[str, dict[str, Any]]:
        """Return the conditions of a stack that are true, by type."""
        found = self.stack(name).get("status", {}).get("conditions", [])
        return {each["type"]: each for each in found if each["status"] == "True"}

    def waits(self, name: str) -> bool:
        """Return whether a stack waits for those of earlier waves."""
        reason: str | None = self.conditions(name).get("Reconciling", {}).get("reason")
        return reason == "PrerequisiteNotSatisfied"

    def choose(self, **choices: Any) -> None:
        """Change ``operator.yaml``."""
        file = self.account.stacks / "operator.yaml"
        file.write_text(yaml.safe_dump(yaml.safe_load(file.read_text()) | choices))

    def has_namespace(self, stack: str, namespace: str) -> bool:
        """Return whether the state of a stack has a namespace."""
        found = self.account.state(stack)["resources"]
        return any(each["urn"].endswith(f"kubernetes:core/v1:Namespace::{namespace}") for each in found)

    def until(self, look: Callable[[], Any]) -> Any:
        """Run the pods until ``look`` is true, and return its answer."""

        def step() -> Any:
            self.operator.assert_runs()
            self.workspaces.step()
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
def operated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Operated]:
    source, folder = Path(os.environ[SOURCE]), tmp_path_factory.mktemp("operator")
    program, agent = build(source, folder)
    with ExitStack() as stack:
        cluster = stack.enter_context(running_cluster(folder / "cluster"))
        (folder / "account").mkdir()
        account = stack.enter_context(Account.hollow(folder / "account", "dev", "prod"))
        backend = account.environment()["PULUMI_BACKEND_URL"]
        elsewhere = {"GIT_URL": str(account.stacks), "PULUMI_BACKEND_URL": backend}
        workspaces = Workspaces(cluster, OURS, agent, folder / "pods", elsewhere)
        stack.callback(workspaces.close)
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
        at = {"POD_NAMESPACE": NAMESPACE, "POD_SA_NAME": ACCOUNT, "WORKSPACE_LOCALHOST": workspaces.address}
        operator = stack.enter_context(running(cluster, program, ACCOUNT, NAMESPACE, *options, **at))
        made = Operated(cluster, account, operator, workspaces, folder / "objects")
        made.git("init", "--quiet")
        cluster.kubectl("create", "namespace", OURS)
        where = {"name": SECRET, "namespace": OURS}
        cluster.apply({"apiVersion": "v1", "kind": "Secret", "metadata": where, "stringData": secret})
        yield made


def test_it_updates_wave_by_wave_and_only_as_up_allows(operated: Operated) -> None:
    account = operated.account
    account.edit("dev", namespaces__team={})
    operated.commit()
    operated.until(lambda: operated.waits("prod"))
    assert operated.ended("dev")["state"] == "succeeded", operated.workspaces.said[-5000:]
    assert operated.ended("prod")["state"] == "succeeded", operated.workspaces.said[-5000:]
    assert len(account.aws.inventory()["aws:eks/cluster:Cluster"]) == 2
    assert operated.stack("prod")["status"]["outputs"]["cluster"]["clusterName"] == "mlrun-prod"

    # A loss without an approval: started by hand, `up` of a development stack only warns.
    last = account.last
    account.edit("dev", namespaces__team=None)
    account.edit("prod", namespaces__other={})
    operated.commit()
    refused = operated.ended("dev", failures=3)
    assert "'dev' would lose protected resources without an approval. Nothing changed." in refused["message"]
    assert "failed 3 times" in operated.conditions("dev")["Stalled"]["message"]
    assert operated.waits("prod")
    assert writes(account.aws.calls(last)) == []
    request = "pulumi.com/reconciliation-request=again"
    operated.cluster.kubectl("annotate", "stack", "dev", "-n", OURS, request)
    operated.until(lambda: operated.stack("dev")["status"]["lastUpdate"]["name"] != refused["name"])

    account.edit("dev", namespaces__team={})
    operated.choose(preview=True)
    operated.commit()
    assert operated.ended("prod") | {"type": "preview", "state": "succeeded"} == operated.ended("prod")
    assert not operated.has_namespace("prod", "other")

    operated.choose(preview=False)
    operated.commit()
    assert operated.ended("prod") | {"type": "up", "state": "succeeded"} == operated.ended("prod")
    assert operated.has_namespace("prod", "other")


def test_a_deleted_stack_destroys_nothing(operated: Operated) -> None:
    last, change = operated.account.last, json.dumps({"spec": {"destroyOnFinalize": True}})
    operated.cluster.kubectl("patch", "stack", "prod", "-n", OURS, "--type=merge", "--patch", change)
    operated.cluster.kubectl("delete", "stack", "prod", "-n", OURS, "--wait=false")

    def refused() -> bool:
        update = operated.stack("prod")["status"].get("lastUpdate", {})
        return "`pulumi destroy` is not supported here" in update.get("message", "")

    operated.until(refused)
    assert writes(operated.account.aws.calls(last)) == []
    assert operated.stack("prod")["metadata"]["finalizers"], "it stays until its finalizer is removed"
