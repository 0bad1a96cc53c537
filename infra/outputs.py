"""Outputs of a stack, whose names the workbench and the component package share."""

from typing import Any

import pulumi

from components.clusters.handle import ClusterHandle
from components.contract.group_outputs import described
from components.contract.mlrun import default_node_selector
from components.contract.priorities import DEFAULT_USER_PRIORITY, UserPriority
from components.scheduling.priority_classes import PriorityClasses
from infra.config import StackConfig


def outputs(
    config: StackConfig, cluster: ClusterHandle, classes: PriorityClasses, *, corrects: bool
) -> dict[str, pulumi.Input[Any]]:
    """Return the cluster's identity, its pools, and the values that the platform's installation needs.

    ``corrects`` is as for ``default_node_selector``.
    """
    identities = {name: dict(each.facts) for name, each in cluster.identities.items()}
    return {
        "cluster": {
            "name": cluster.name,
            "kind": cluster.kind.value,
            "environment": config.environment.value,
            **cluster.facts,
        },
        **({"kubeconfig": cluster.kubeconfig} if cluster.kubeconfig is not None else {}),
        # By name, so that adding or removing a group does not change the entries of the others.
        "pools": {group.name: described(group) for group in cluster.groups},
        "priorityClasses": {tier.value: classes.value_of(tier) for tier in UserPriority},
        "defaultPriorityClass": DEFAULT_USER_PRIORITY.value,
        "defaultNodeSelector": default_node_selector(cluster.groups, corrects=corrects),
        "namespaces": list(config.namespaces),
        **({"identities": identities} if identities else {}),
    }
