"""What a rehearsal assumes about an existing cluster, which it does not query."""

from dataclasses import replace
from typing import Final

from components.contract.existing.config import ExistingConfig
from infra.config import CONFIG_KEY
from workbench.stacks import Stack

PLACES: Final = (
    "The API server is assumed to offer MutatingAdmissionPolicy, so pods without a place get one. If that of the "
    "cluster does not, set cluster.mutatingAdmission to false."
)


def as_rehearsed(stack: Stack) -> tuple[Stack, str]:
    """Return the stack as the rehearsal runs it, and its assumption as a sentence; empty if it has none.

    ``up`` queries whether an existing cluster offers MutatingAdmissionPolicy. Here it would query the rehearsal's API
    server, which always does. A value in the stack file takes precedence.
    """
    cluster = stack.config.cluster
    if not isinstance(cluster, ExistingConfig) or cluster.mutating_admission is not None:
        return stack, ""
    choices = stack.document["config"][CONFIG_KEY]
    said = {**choices, "cluster": {**choices["cluster"], "mutatingAdmission": True}}
    document = {**stack.document, "config": {**stack.document["config"], CONFIG_KEY: said}}
    known = cluster.model_copy(update={"mutating_admission": True})
    return replace(stack, document=document, config=stack.config.model_copy(update={"cluster": known})), PLACES
