"""Inputs that the clusters of all clouds have in common."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from components.contract.choices import ContractModel
from components.contract.environments import Environment
from components.contract.groups import NodeGroup
from components.contract.identity import CloudIdentity
from components.contract.shared_storage import Storage, Volumes

LOG_RETENTION_DAYS: Final = {Environment.DEV: 30, Environment.PROD: 365}
"""Default if the stack file sets none. A year of audit logs outlives most investigations."""

Choices = TypeVar("Choices", bound=ContractModel)


@dataclass(frozen=True, kw_only=True)
class CloudClusterArgs(Generic[Choices]):
    """Inputs of a cluster in a cloud."""

    choices: Choices
    environment: Environment
    groups: tuple[NodeGroup, ...]
    identities: Mapping[str, CloudIdentity] = field(default_factory=dict)
    """Cloud identities of user namespaces, by namespace."""
    storage: Mapping[str, Storage] = field(default_factory=dict)
    volumes: Volumes = field(default_factory=dict)
    """Volumes in that storage."""
