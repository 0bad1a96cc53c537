"""An EKS stack with a pool of every kind, and what its program declares."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from infra.config import StackConfig, parse
from infra.program import run
from support.edits import edited
from support.minors import CHOSEN
from support.recorder import Recorder, record

ACCOUNT = "111122223333"
ROLE = f"arn:aws:iam::{ACCOUNT}:role"
NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
LAUNCH_TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
CLUSTER = "aws:eks/cluster:Cluster"
ADDON = "aws:eks/addon:Addon"
KEY = "aws:kms/key:Key"
TAG = "aws:autoscaling/tag:Tag"

CREATED = {"kind": "created", "cidr": "10.20.0.0/16"}
PODS = {
    "cluster.prefixDelegation": True,
    "cluster.podCidr": "100.64.0.0/16",
    "cluster.addonVersions": {"vpc-cni": "v1.22.4-eksbuild.1"},
}
"""Changes after which pods have a range of their own."""
EXISTING = {
    "kind": "existing",
    "vpcId": "vpc-0123456789abcdef0",
    "cidr": "10.20.0.0/16",
    "nodeSubnetIds": {
        "a": "subnet-0aaaaaaaaaaaaaaaa",
        "b": "subnet-0bbbbbbbbbbbbbbbb",
        "c": "subnet-0cccccccccccccccc",
    },
}

DOCUMENT: dict[str, Any] = {
    "schemaVersion": 1,
    "environment": "dev",
    "cluster": {
        "kind": "eks",
        "name": "research",
        "accountId": ACCOUNT,
        "region": "eu-west-1",
        "zones": ["a", "b", "c"],
        "version": CHOSEN,
        "network": CREATED,
        "access": {"deployerRoleArn": f"{ROLE}/deployer", "breakGlassRoleArn": f"{ROLE}/break-glass"},
        "tags": {"team": "ml", "cost-center": "4711"},
    },
    "pools": {
        "initial": {"role": "initial", "size": {"min": 3, "max": 3}, "instanceTypes": ["m6i.xlarge"]},
        "workload": {"role": "workload", "size": {"min": 1, "max": 10}, "instanceTypes": ["m6i.2xlarge"]},
        "arm": {"role": "workload", "size": {"min": 0, "max": 4}, "instanceTypes": ["m6g.2xlarge"]},
        "spot": {
            "role": "workload",
            "lifecycle": "spot",
            "size": {"min": 0, "max": 20},
            "instanceTypes": ["m6i.2xlarge", "m5.2xlarge", "m5a.2xlarge"],
            "labels": {"example.com/team": "ml"},
        },
        "jupyter": {"role": "jupyter", "size": {"min": 0, "max": 5}, "instanceTypes": ["m6i.xlarge"]},
        "gpu": {"role": "gpu", "size": {"min": 0, "max": 4}, "instanceTypes": ["g5.12xlarge"]},
        "data": {"role": "data", "size": {"min": 3, "max": 3}, "instanceTypes": ["i4i.2xlarge"]},
    },
}


def document(changes: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the stack's choices with ``changes``, whose keys are dotted paths; None removes a key."""
    return edited(DOCUMENT, changes or {})


def config(changes: dict[str, Any] | None = None) -> StackConfig:
    """Return the stack with ``changes``."""
    return parse(document(changes))


def build(
    changes: dict[str, Any] | None = None, *, first_preview: bool = False, live_sizes: Mapping[str, int] | None = None
) -> Recorder:
    """Return everything that the program declares for the stack with ``changes``, with groups of these live sizes."""
    choices = config(changes)
    return record(lambda: run(choices, live_sizes=live_sizes), first_preview=first_preview)


@lru_cache(maxsize=4)
def built(environment: str = "dev") -> Recorder:
    """Return what the unchanged stack declares; do not change it."""
    return build({"environment": environment})
