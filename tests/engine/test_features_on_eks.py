"""A small EKS stack with all that clusters for ML ask for at once: up, changed and gone, and killed on both ways."""

from typing import Any

import pytest

from components.contract.certificates import EXAMPLE
from support.aws_emulator import Account, identities, left_by_destroy
from support.eks import PODS
from support.lives import bring_up, kill, killed
from support.minors import NEWEST

pytestmark = [pytest.mark.engine, pytest.mark.full]

STACK = "dev"
GPUS: dict[str, Any] = {"role": "gpu", "size": {"min": 0, "max": 2}, "instanceTypes": ["p5.48xlarge"], "zone": "b"}
POOLS: dict[str, dict[str, Any]] = {
    "workload": {
        "role": "workload",
        "size": {"min": 1, "max": 5},
        "instanceTypes": ["m6i.2xlarge"],
        "headroom": {"pods": 2, "cpu": "3", "memory": "12Gi"},
        "prepullImages": ["nvcr.io/nvidia/pytorch:25.06-py3"],
        "warmPool": {"nodes": 2},
        "upgrade": {"nodes": 1, "order": "old-first"},
    },
    "days": {
        "role": "workload",
        "size": {"min": 1, "max": 5},
        "shape": {"vcpus": 8, "memoryGib": 32, "generation": 6},
        "instanceTypes": ["m6i.2xlarge"],
        "officeHours": {"from": "08:00", "to": "19:00", "timeZone": "UTC"},
    },
    "turns": {**GPUS, "instanceTypes": ["g5.2xlarge"], "sharing": {"mode": "time-slicing", "replicas": 4}},
    "slices": {**GPUS, "sharing": {"mode": "mig", "profile": "1g.10gb"}},
    "reserved": {**GPUS, "lifecycle": "reserved", "reservation": {"id": "cr-0a91582543292e10a"}},
    "block": {**GPUS, "lifecycle": "reserved", "reservation": {"id": "cr-0b91582543292e10b", "block": True}},
    "near": {**GPUS, "fabric": True, "closeTogether": True},
}
CLUSTER: dict[str, Any] = {
    **{path.removeprefix("cluster."): value for path, value in PODS.items()},
    "proxy": {"http": "http://proxy.corp.example:3128"},
    "trustedCertificates": [EXAMPLE],
    "nodeMirrors": {"quay.io": "mirror.corp.example"},
    "imageCaches": ["k8s"],
    "ingress": {"domain": "ml.example.com", "clientCidrs": ["10.0.0.0/8"], "hostedZoneId": "Z0123456789ABC"},
    "gpu": {"metrics": True},
}
JOBS: dict[str, Any] = {
    "identity": {"buckets": [{"bucket": "ml-data"}], "accounts": ["sparkapp"]},
    "volumes": {"shared": {"storage": "corpus"}, "fast": {"storage": "fast"}},
}
OTHERS: dict[str, Any] = {
    "namespaces": {"mlrun": {"coreServices": True}, "jobs": JOBS},
    "storage": {
        "corpus": {"purpose": "dataset", "type": "files"},
        "fast": {"purpose": "dataset", "type": "lustre", "sizeGib": 2400, "zone": "b"},
    },
}
MADE = {
    "aws:autoscaling/schedule:Schedule": 2,
    "aws:ec2/placementGroup:PlacementGroup": 1,
    "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation": 1,
    "aws:efs/accessPoint:AccessPoint": 1,
    "aws:efs/fileSystem:FileSystem": 1,
    "aws:eks/nodeGroup:NodeGroup": len(POOLS) + 1,
    "aws:fsx/lustreFileSystem:LustreFileSystem": 1,
}
"""How many there are of what only some stacks have; the further group is the initial one."""
RELEASE = f"{NEWEST}.1-20261105"


def test_all_of_it_lives_together_and_a_destroy_leaves_nothing(aws: Account) -> None:
    pools = {f"pools__{name}": pool for name, pool in POOLS.items()}
    bring_up(aws, STACK, **pools, **{f"cluster__{key}": value for key, value in CLUSTER.items()}, **OTHERS)
    there = aws.aws.inventory()
    assert {type_: len(there.get(type_, ())) for type_ in MADE} == MADE
    assert bring_up(aws, STACK) == []

    # Machines by their shape are another group, all others but blocks get the release, and the agent goes.
    aws.run("machines", STACK, "days", "--write")
    aws.edit(STACK, cluster__nodeRelease=RELEASE, cluster__nodeMonitoring=False)
    kill(aws, STACK, "eks:UpdateNodegroupVersion")
    in_state, in_aws = identities(aws, STACK)
    assert in_state == in_aws
    assert len(aws.group("dev-days")["instanceTypes"]) > 1
    assert {name: aws.group(f"dev-{name}")["releaseVersion"] == RELEASE for name in POOLS} == {
        name: name != "block" for name in POOLS
    }
    assert bring_up(aws, STACK) == []

    killed(aws, STACK, "fsx:DeleteFileSystem", "destroy")
    aws.run("recover", STACK, "--hermetic", "--yes")
    assert left_by_destroy(aws, STACK) == set()
