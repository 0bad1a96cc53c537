"""What distinguishes a local cluster from the other kinds."""

from typing import Final

from components.contract.egress import HTTPS, to_api_server
from components.contract.environments import ClusterKind, Environment
from components.contract.ingress import IN_PRODUCTION, own_ways_in, unencrypted_in_prod
from components.contract.kind import KindDescriptor, made_by_the_stack
from components.contract.local.checks import mismatches, storage_problems
from components.contract.local.config import SERVICE_CIDR, LocalConfig
from components.contract.ranges import service_address

LOCAL: Final = KindDescriptor(
    kind=ClusterKind.LOCAL,
    config=LocalConfig,
    mismatches=mismatches,
    owner_problem=made_by_the_stack(ClusterKind.LOCAL, "a local cluster has no installer"),
    environment_problems=lambda choices, environment: unencrypted_in_prod(choices.ingress, environment),
    identity_problems=lambda _, __: iter(()),
    storage_problems=storage_problems,
    ways_in=lambda choices: own_ways_in(choices.ingress),
    egress=lambda _: (to_api_server(service_address(SERVICE_CIDR), ports=(HTTPS,)),),
    stack_files={Environment.DEV: "Pulumi.local.yaml"},
    in_production=(IN_PRODUCTION,),
)
