"""What distinguishes a local cluster from the other kinds."""

from typing import Final

from components.contract.environments import ClusterKind, Environment
from components.contract.kind import KindDescriptor, made_by_the_stack
from components.contract.local.checks import mismatches
from components.contract.local.config import LocalConfig

LOCAL: Final = KindDescriptor(
    kind=ClusterKind.LOCAL,
    config=LocalConfig,
    mismatches=mismatches,
    owner_problem=made_by_the_stack(ClusterKind.LOCAL, "a local cluster has no installer"),
    stack_files={Environment.DEV: "Pulumi.local.yaml"},
)
