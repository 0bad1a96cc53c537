"""The real autoscaler with its code for AWS, for an EKS stack that is up on the AWS emulator.

It reads and changes Auto Scaling groups of the emulator, and sees nodes and pods of the API server inside. The nodes
are those of the instances that `up` started. Instances that it starts itself never become nodes: what it raises for the
pods as they were created is all that it raises.
"""

import json
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import yaml

from components.contract import autoscaler
from components.contract.groups import NodeGroup
from components.contract.labels import WellKnownLabel
from components.contract.local.nodes import node_metadata, node_taints
from emulators.aws.server import REGION
from support.aws_emulator import Account
from support.cloud_account import CORE_NODE
from support.cluster import HANGS, eventually
from workbench.rehearsal.cluster.api import KubeApi
from workbench.rehearsal.cluster.load import load_of
from workbench.rehearsal.cluster.nodes import simulated_group
from workbench.rehearsal.play.authors import accounts
from workbench.rehearsal.play.objects import Objects
from workbench.rehearsal.play.units import Request, volume
from workbench.rehearsal.scenario.model import Scenario
from workbench.rehearsal.settings import Pace
from workbench.stacks import Stack
from workbench.toolchain import ensure

PROGRAM: Final = "cluster-autoscaler-aws"

QUIET: Final = 10
"""Looks at the cluster in which the autoscaler changes no group; it changes one, and those like it, in each."""

_NAMED: Final = "eks:nodegroup-name"
"""Tag that EKS puts on the Auto Scaling group of a node group."""

_STATUS: Final = f"/api/v1/namespaces/{autoscaler.NAMESPACE}/configmaps/{autoscaler.STATUS}"


@dataclass(frozen=True)
class AwsCluster:
    """The cluster of an EKS stack that is up on the emulator.

    Parameters
    ----------
    account
        Where it is up.
    stack
        The stack.
    """

    account: Account
    stack: Stack

    @cached_property
    def api(self) -> KubeApi:
        """The API server, as its administrator."""
        return KubeApi(self.account.kubeconfig)

    def scaling_groups(self) -> dict[str, dict[str, Any]]:
        """Return the Auto Scaling groups as AWS describes them, by the name of their group of the stack."""
        pages = self.account.aws.api("autoscaling").get_paginator("describe_auto_scaling_groups").paginate()
        found = [group for page in pages for group in page["AutoScalingGroups"]]
        return {self._group_of(each).name: each for each in found}

    def desired(self) -> dict[str, int]:
        """Return how many instances each group wants."""
        return {name: group["DesiredCapacity"] for name, group in self.scaling_groups().items()}

    def start_nodes(self) -> None:
        """Let every instance become a node, place the cluster's own pods on them, and remove the node of tests."""
        groups = {group.name: group for group in self.stack.config.groups}
        for name, scaling_group in self.scaling_groups().items():
            for instance in scaling_group["Instances"]:
                self.api.create(self._node(groups[name], instance))
        there = self.account.objects("deployments,daemonsets")
        for manifest in (load.manifest for load in load_of(self.stack.config).loads):
            if f"{manifest['kind']} {manifest['metadata']['name']}" not in there:
                self.api.create(manifest)
        core = CORE_NODE["metadata"]["name"]
        self.api.delete(f"/api/v1/nodes/{core}")
        for pod in self.api.get(f"/api/v1/pods?fieldSelector=spec.nodeName%3D{core}")["items"]:
            where = pod["metadata"]
            self.api.delete(f"/api/v1/namespaces/{where['namespace']}/pods/{where['name']}", grace=0)
        eventually(self._is_at_rest)

    def arrive(self, scenario: Scenario) -> None:
        """Create all units of a scenario at once, as their real makers do."""
        for each in accounts(self.stack.config.namespaces):
            self.api.apply(each)
        objects = Objects(self.stack.config, Pace())
        for arrival in scenario.arrivals:
            for index in range(arrival.count):
                unit = objects.unit(arrival.work, scenario.works[arrival.work], index)
                for request in (*volume(unit), *objects.arriving(unit)):
                    self._create(request)

    @contextmanager
    def autoscaler(self, folder: Path) -> Iterator["RunningAutoscaler"]:
        """Run the autoscaler until the end of the block, with the flags and the rights that the stack gave it.

        It scans the cluster every second, instead of every ten, and needs no lease.
        """
        deployment = self.api.get(f"/apis/apps/v1/namespaces/{autoscaler.NAMESPACE}/deployments/{autoscaler.NAME}")
        flags = deployment["spec"]["template"]["spec"]["containers"][0]["command"][1:]
        ours = {
            "address": "127.0.0.1:0",
            "kubeconfig": self._kubeconfig(folder),
            "cloud-config": self._cloud_config(folder),
            "leader-elect": "false",
            "scan-interval": "1s",
        }
        log = folder / "autoscaler.log"
        with log.open("w") as sink:
            process = subprocess.Popen(
                [
                    ensure([PROGRAM]).path(PROGRAM),
                    *(flag for flag in flags if flag.partition("=")[0].removeprefix("--") not in ours),
                    *(f"--{name}={value}" for name, value in ours.items()),
                ],
                env=self.account.environment(),
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
            )
        try:
            yield RunningAutoscaler(self, process, log)
        finally:
            process.kill()
            process.wait()

    def _group_of(self, scaling_group: Mapping[str, Any]) -> NodeGroup:
        """Return the group of the stack that an Auto Scaling group belongs to: Pulumi adds a suffix to its name."""
        tags = {tag["Key"]: tag["Value"] for tag in scaling_group["Tags"]}
        name = tags[_NAMED].rpartition("-")[0]
        (found,) = (each for each in self.stack.config.groups if name == f"{self.stack.name}-{each.name}")
        return found

    def _node(self, group: NodeGroup, instance: Mapping[str, Any]) -> dict[str, Any]:
        """Return the node of an instance; its name and its place are those that EKS gives it."""
        zone, id_ = instance["AvailabilityZone"], instance["InstanceId"]
        metadata = node_metadata(simulated_group(self.stack.config, group), id_)
        metadata["labels"][WellKnownLabel.ZONE.value] = zone
        spec = {"providerID": f"aws:///{zone}/{id_}", "taints": node_taints(group)}
        return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": spec}

    def _is_at_rest(self) -> bool:
        pods = self.api.get("/api/v1/pods")["items"]
        nodes = self.api.get("/api/v1/nodes")["items"]
        daemons = {each["spec"].get("nodeName") for each in pods if _owner(each) == "DaemonSet"}
        return (
            all(each["status"].get("phase") == "Running" for each in pods)
            and {each["metadata"]["name"] for each in nodes} == daemons
        )

    def _create(self, request: Request) -> None:
        self.api.create(request.manifest, as_user=request.author.user, as_groups=request.author.groups)

    def _kubeconfig(self, folder: Path) -> Path:
        """Write the kubeconfig of the autoscaler's service account."""
        config = yaml.safe_load(self.account.kubeconfig.read_text())
        config["users"][0]["user"]["as"] = f"system:serviceaccount:{autoscaler.NAMESPACE}:{autoscaler.NAME}"
        file = folder / "kubeconfig"
        file.touch(mode=0o600)
        file.write_text(json.dumps(config))
        return file

    def _cloud_config(self, folder: Path) -> Path:
        """Write where each service of AWS is: kubernetes/autoscaler 1959f5f6, ``aws/aws_sdk_provider.go``."""
        file = folder / "cloud.conf"
        file.write_text(
            "".join(
                f'[ServiceOverride "{service}"]\nService = {service}\nRegion = {REGION}\nSigningRegion = {REGION}\n'
                f"URL = {self.account.aws.address}\n"
                for service in ("autoscaling", "ec2", "eks")
            )
        )
        return file


@dataclass(frozen=True)
class RunningAutoscaler:
    """An autoscaler that works on a cluster."""

    cluster: AwsCluster
    process: subprocess.Popen[bytes]
    log: Path

    def settled(self) -> dict[str, int]:
        """Return how many instances each group wants when the autoscaler changes none any more."""
        first = sizes = self.cluster.desired()
        looks = self._looks()
        deadline = time.monotonic() + HANGS
        quiet = 0
        while sizes == first or quiet < QUIET:
            assert self.process.poll() is None, self.log.read_text()[-5000:]
            assert time.monotonic() < deadline, self.log.read_text()[-5000:]
            time.sleep(0.5)
            now, seen = self.cluster.desired(), self._looks()
            quiet = 0 if now != sizes else quiet + (seen != looks)
            sizes, looks = now, seen
        return sizes

    def _looks(self) -> str:
        """Return what changes with each scan of the autoscaler: the version of its status."""
        status = self.cluster.api.get(_STATUS)
        return str(status["metadata"]["resourceVersion"]) if status else ""


def _owner(pod: Mapping[str, Any]) -> str:
    return next((str(each["kind"]) for each in pod["metadata"].get("ownerReferences", ())), "")
