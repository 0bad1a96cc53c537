"""An EKS stack on the double of AWS, driven as a user drives it, with a real API server inside."""

import json
import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from components.contract.labels import LabelKey
from infra.config import CONFIG_KEY
from support.cluster import COMMAND, eventually, user_environment
from support.owners_roles import make_owners_roles, owners_roles
from workbench.clouds.aws.double import credentials
from workbench.clouds.aws.double.client import Double, running
from workbench.clouds.aws.double.server import ACCOUNT
from workbench.clouds.aws.facts import PROVIDER_VERSION as AWS_VERSION
from workbench.clouds.double.client import Call
from workbench.engine.render import install
from workbench.paths import PRIVATE, PROJECT_ROOT, cache_dir
from workbench.policy import overrides
from workbench.toolchain import ensure
from workbench.toolchain.recipes import PROVIDER_VERSION as KUBERNETES_VERSION

CONTROL_PLANE: Final = "inside"
"""Name of the local control plane that every cluster of the double leads to."""

READS: Final = ("Describe", "List", "Get", "Lookup")
"""How operations begin that change nothing."""

CORE_NODE: Final = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {
        "name": "core",
        "labels": {LabelKey.ROLE.value: "initial", "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"},
        "annotations": {
            "kwok.x-k8s.io/node": "fake",
            "igz-clusters.io/capacity": json.dumps({"cpu": "16", "memory": "64Gi", "pods": "110"}),
        },
    },
}
"""A simulated node of the initial pool: the engine waits until the autoscaler's Deployment runs."""


@dataclass(frozen=True)
class Account:
    """Stacks in one AWS that is a double, with a backend, a home and credentials of their own.

    Parameters
    ----------
    aws
        The double.
    folder
        Everything is below it; stack files in ``stacks``.
    kubeconfig
        Of the API server inside, as its administrator.
    """

    aws: Double
    folder: Path
    kubeconfig: Path
    is_plan_shown: bool = True
    """Whether the engine plans before an `up` or a `destroy`, as it does for people. It takes as long as the change."""

    @property
    def stacks(self) -> Path:
        """Folder of the stack files."""
        return self.folder / "stacks"

    @property
    def overrides(self) -> Path:
        """File of waivers and approvals."""
        return self.stacks / overrides.FILE

    @property
    def owners_roles(self) -> list[str]:
        """Names of the roles that stack files name, and that whoever owns the account makes."""
        files = sorted(self.stacks.glob("Pulumi.*.yaml"))
        choices = [yaml.safe_load(file.read_text())["config"][CONFIG_KEY] for file in files]
        return list(dict.fromkeys(name for each in choices for name in owners_roles(each)))

    def environment(self, stack: str = "") -> dict[str, str]:
        """Return all variables of a user at work; with ``stack`` those that plain ``pulumi`` needs too."""
        pulumi = ensure(["pulumi"]).pulumi
        path = [str(self.folder / "bin"), str(pulumi.parent), os.environ.get("PATH", os.defpath)]
        own = {key: value for key, value in user_environment().items() if not key.startswith(("AWS_", "PULUMI_"))}
        plain = {"PULUMI_STACK": stack, "PULUMI_OPTION_CONFIG_FILE": str(self.stack_file(stack))} if stack else {}
        return {
            **own,
            **self.aws.environment,
            **plain,
            "PATH": os.pathsep.join(path),
            "HOME": str(self.folder),
            "KUBECONFIG": str(self.folder / "none"),
            "IGZ_CLUSTERS_STACKS": str(self.stacks),
            "IGZ_CLUSTERS_DATA": str(self.folder / "data"),
            "IGZ_CLUSTERS_CACHE": str(cache_dir()),
            "PULUMI_HOME": str(self.folder / "pulumi"),
            "PULUMI_BACKEND_URL": f"file://{self.folder / 'state'}",
            "PULUMI_CONFIG_PASSPHRASE": (self.folder / "passphrase").read_text(),
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            "PULUMI_OPTION_SKIP_PREVIEW": str(not self.is_plan_shown).lower(),
        }

    def stack_file(self, stack: str) -> Path:
        """Return where the choices of a stack are."""
        return self.stacks / f"Pulumi.{stack}.yaml"

    def edit(self, stack: str, **choices: Any) -> None:
        """Change choices of a stack file; keys are paths with ``__`` between, None removes one."""
        file = self.stack_file(stack)
        document = yaml.safe_load(file.read_text())
        for path, value in choices.items():
            *parents, last = path.split("__")
            here = document["config"][CONFIG_KEY]
            for key in parents:
                here = here.setdefault(key, {})
            here.pop(last, None)
            if value is not None:
                here[last] = value
        file.write_text(yaml.safe_dump(document, sort_keys=False))

    def run(self, *arguments: str, check: bool = True, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run ``igz-clusters`` and return what it printed; with ``check`` a failure fails the test."""
        return _finished([COMMAND, *arguments], {**self.environment(), **variables}, check=check)

    def start(self, *arguments: str, **variables: str) -> subprocess.Popen[str]:
        """Start ``igz-clusters`` and leave it running; standard error goes where standard output goes."""
        return subprocess.Popen(
            [COMMAND, *arguments],
            cwd=PROJECT_ROOT,
            env={**self.environment(), **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            process_group=0,
        )

    def plain(self, stack: str, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run plain ``pulumi``, without policy packs."""
        command = [ensure(["pulumi"]).pulumi, *arguments, "--non-interactive"]
        return _finished(command, self.environment(stack), check=check)

    def state(self, stack: str) -> dict[str, Any]:
        """Return the stack's deployment."""
        exported = self.plain(stack, "stack", "export").stdout
        deployment: dict[str, Any] = json.loads(exported)["deployment"]
        return deployment

    def kubectl(self, *arguments: str, stdin: str | None = None) -> str:
        """Run ``kubectl`` as the administrator of the API server inside and return what it prints."""
        program = ensure(["kubectl"]).path("kubectl")
        run = subprocess.run(
            [program, f"--kubeconfig={self.kubeconfig}", *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert run.returncode == 0, run.stderr
        return run.stdout

    def objects(self, kinds: str = "deployments,namespaces,priorityclasses,storageclasses") -> set[str]:
        """Return kind and name of what is in the API server."""
        items = json.loads(self.kubectl("get", kinds, "-A", "-o", "json"))["items"]
        return {f"{item['kind']} {item['metadata']['name']}" for item in items}

    def group(self, prefix: str) -> Mapping[str, Any]:
        """Return the one node group whose name begins so, as EKS describes it."""
        (cluster,) = self.aws.inventory()["aws:eks/cluster:Cluster"]
        eks = self.aws.api("eks")
        names = eks.list_nodegroups(clusterName=cluster)["nodegroups"]
        (name,) = [name for name in names if name.startswith(prefix)]
        found: Mapping[str, Any] = eks.describe_nodegroup(clusterName=cluster, nodegroupName=name)["nodegroup"]
        return found

    def move(self, prefix: str, desired: int) -> None:
        """Give a node group another size, as the autoscaler does it."""
        self.aws.move(self.group(prefix)["resources"]["autoScalingGroups"][0]["name"], desired)

    @property
    def last(self) -> int:
        """Number of the last call; 0 if there was none."""
        return max((call.number for call in self.aws.calls()), default=0)


def writes(calls: Sequence[Call]) -> list[Call]:
    """Return the calls that asked AWS to change something."""
    return [call for call in calls if not call.operation.partition(":")[2].startswith(READS)]


def identities(made: Account, stack: str) -> tuple[set[str], set[str]]:
    """Return type and id of what the state of the only stack names in AWS, and of what is there.

    What AWS made by itself, and what belongs to whoever owns the account, is in neither.
    """
    resources = made.state(stack).get("resources") or []
    named = {f"{each['type']} {each['id']}" for each in resources if each["type"].startswith("aws:")}
    there = {f"{type_} {id_}" for type_, ids in made.aws.inventory().items() for id_ in ids if type_.startswith("aws:")}
    return named, there - {f"aws:iam/role:Role {role}" for role in made.owners_roles}


def _finished(
    command: Sequence[str | Path], environment: Mapping[str, str], *, check: bool
) -> subprocess.CompletedProcess[str]:
    run = subprocess.run(
        command,
        cwd=PROJECT_ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    if check:
        assert run.returncode == 0, f"{command}:\n{run.stdout}\n{run.stderr}"
    return run


@contextmanager
def account(folder: Path, *stacks: str, is_plan_shown: bool = True) -> Iterator[Account]:
    """Start an API server and a double, make what an account has before its first cluster, and end both.

    Parameters
    ----------
    folder
        An empty one.
    stacks
        Stack files of this checkout that are to be used in it.
    is_plan_shown
        As of ``Account``.
    """
    (folder / "data").mkdir(mode=PRIVATE)
    kubeconfig = folder / "data" / "local" / CONTROL_PLANE / "kubeconfig"
    local = {**user_environment(), "IGZ_CLUSTERS_DATA": str(folder / "data")}
    try:
        _finished([COMMAND, "local", "start", CONTROL_PLANE], local, check=True)
        with running(kubeconfig=kubeconfig) as aws:
            made = Account(aws, folder, kubeconfig, is_plan_shown)
            provider = ensure(["pulumi-resource-kubernetes"]).path("pulumi-resource-kubernetes")
            _equip(made, stacks, str(provider))
            credentials.install(folder / "bin", kubeconfig)
            # Without a node nothing in the cluster would run.
            made.kubectl("create", "-f", "-", stdin=json.dumps(CORE_NODE))
            conditions = ("get", "node", "core", "-o", "jsonpath={.status.conditions[*].status}")
            eventually(lambda: "True" in made.kubectl(*conditions))
            yield made
    finally:
        _finished([COMMAND, "local", "delete", CONTROL_PLANE, "--yes"], local, check=True)


@contextmanager
def hollow_account(folder: Path, *stacks: str, is_plan_shown: bool = True) -> Iterator[Account]:
    """Do as ``account`` without an API server: what a stack makes in its cluster is pretended."""
    (folder / "data").mkdir(mode=PRIVATE)
    with running() as aws:
        made = Account(aws, folder, folder / "none", is_plan_shown)
        _equip(made, stacks, sys.executable, "-P", "-m", "workbench.clouds.pretended", "kubernetes")
        yield made


def _equip(made: Account, stacks: Sequence[str], *kubernetes: str) -> None:
    """Install the plug-ins, that for Kubernetes as the given command, and make stacks and owners' roles."""
    for each in ("bin", "pulumi", "state", "stacks"):
        (made.folder / each).mkdir(mode=PRIVATE)
    (made.folder / "passphrase").write_text(secrets.token_urlsafe(32))
    home = made.folder / "pulumi"
    # Without `-P` the folder that the engine starts it in would come first, and may be another checkout.
    install(home, "aws", AWS_VERSION, sys.executable, "-P", "-m", "workbench.clouds.aws.double", "plugin")
    install(home, "kubernetes", KUBERNETES_VERSION, *kubernetes)
    shutil.copy(PROJECT_ROOT / "Pulumi.yaml", made.stacks)
    for stack in stacks:
        _adopt(made, stack)
    make_owners_roles(made.aws.api("iam"), *made.owners_roles)


def _adopt(made: Account, stack: str) -> None:
    """Copy a stack file, let it be about the double's account, and make the stack in the backend."""
    file = made.stack_file(stack)
    text = (PROJECT_ROOT / file.name).read_text()
    choices = yaml.safe_load(text)["config"][CONFIG_KEY]["cluster"]
    file.write_text(text.replace(choices["accountId"], ACCOUNT))
    # `stack init` writes beside the project file of its folder, whatever the option says.
    command = [ensure(["pulumi"]).pulumi, "stack", "init", stack, "--no-select", "--non-interactive"]
    subprocess.run(command, cwd=made.stacks, env=made.environment(), check=True, capture_output=True)
