"""What distinguishes an existing cluster from the other kinds."""

from typing import Final

from components.contract.environments import ClusterKind, Environment, ServerOwner
from components.contract.existing.checks import mismatches, storage_problems, volume_problems
from components.contract.existing.config import ExistingConfig
from components.contract.existing.nodes import NODES
from components.contract.ingress import IN_PRODUCTION, own_ways_in, unencrypted_in_prod
from components.contract.kind import KindDescriptor


def _owner_problem(owner: ServerOwner) -> str | None:
    made = "an existing cluster already has its servers; set servers: provazio"
    return made if owner is ServerOwner.PULUMI else None


EXISTING: Final = KindDescriptor(
    kind=ClusterKind.EXISTING,
    config=ExistingConfig,
    mismatches=mismatches,
    owner_problem=_owner_problem,
    storage_problems=storage_problems,
    volume_problems=volume_problems,
    nodes=NODES,
    environment_problems=lambda choices, environment: unencrypted_in_prod(choices.ingress, environment),
    ways_in=lambda choices: own_ways_in(choices.ingress),
    stack_files=dict.fromkeys(Environment, "examples/existing/Pulumi.existing.yaml"),
    in_production=(IN_PRODUCTION,),
)
