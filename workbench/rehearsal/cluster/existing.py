"""What a rehearsal assumes of an existing cluster, which nothing asks."""

from dataclasses import replace
from typing import Final

from components.contract.existing.config import ExistingConfig
from infra.config import CONFIG_KEY
from workbench.stacks import Stack

PLACES: Final = (
    "The API server is taken to offer MutatingAdmissionPolicy, so pods without a place get one. If that of the cluster "
    "does not, set cluster.mutatingAdmission to false."
)


def as_rehearsed(stack: Stack) -> tuple[Stack, str]:
    """Return the stack as the rehearsal runs it, and what that assumes as a sentence; empty if nothing.

    ``up`` looks up whether an existing cluster offers MutatingAdmissionPolicy. Here the API server that it would ask is
    the rehearsal's, which does. A stack file that says something about it decides itself.
    """
    cluster = stack.config.cluster
    if not isinstance(cluster, ExistingConfig) or cluster.mutating_admission is not None:
        return stack, ""
    choices = stack.document["config"][CONFIG_KEY]
    said = {**choices, "cluster": {**choices["cluster"], "mutatingAdmission": True}}
    document = {**stack.document, "config": {**stack.document["config"], CONFIG_KEY: said}}
    known = cluster.model_copy(update={"mutating_admission": True})
    return replace(stack, document=document, config=stack.config.model_copy(update={"cluster": known})), PLACES
