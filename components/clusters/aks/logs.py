"""Logs of the control plane and of containers, in one workspace."""

from dataclasses import dataclass
from typing import Final

import pulumi
from pulumi_azure_native.containerservice import ManagedCluster
from pulumi_azure_native.monitor import (
    DataCollectionRule,
    DataCollectionRuleAssociation,
    DataCollectionRuleDataSourcesArgs,
    DataCollectionRuleDestinationsArgs,
    DataFlowArgs,
    DiagnosticSetting,
    DiagnosticsLogSettingsArgs,
    ExtensionDataSourceArgs,
    LogAnalyticsDestinationArgs,
)
from pulumi_azure_native.operationalinsights import Workspace, WorkspaceFeaturesArgs, WorkspaceSkuArgs

from components.base import PlatformComponent
from components.contract.aks.config import AksConfig
from components.contract.aks.network import is_isolated

CONTROL_PLANE_LOGS: Final = (
    *("kube-apiserver", "kube-audit-admin", "kube-controller-manager", "kube-scheduler"),
    *("cluster-autoscaler", "guard"),
)
"""Log categories to keep; ``kube-audit-admin`` is the audit log without reads, which make up most of it.

https://learn.microsoft.com/azure/aks/monitor-aks-reference
"""

CONTAINER_LOGS: Final = ("Microsoft-ContainerLogV2", "Microsoft-KubeEvents", "Microsoft-KubePodInventory")
"""Tables that the agent on the nodes writes to: https://learn.microsoft.com/azure/azure-monitor/containers/kubernetes-data-collection-configure."""

ASSOCIATION: Final = "ContainerInsightsExtension"
"""The only name under which the agent looks for its data collection rule."""

DESTINATION: Final = "workspace"


@dataclass(frozen=True, kw_only=True)
class LogWorkspaceArgs:
    """Inputs of the workspace."""

    choices: AksConfig
    resource_group: pulumi.Input[str]
    tags: dict[str, str]
    retention_days: int


class LogWorkspace(PlatformComponent):
    """The log workspace, and the data collection rule for container logs. It exists before the cluster.

    The agent on the nodes sends to a public address, so a network without the internet has no such rule.
    """

    workspace: Workspace
    containers: DataCollectionRule | None

    def __init__(self, name: str, args: LogWorkspaceArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("igz-clusters:clusters:AksLogs", name, None, opts)
        self._name = name
        self.workspace = Workspace(
            f"{name}-workspace",
            resource_group_name=args.resource_group,
            workspace_name=f"{args.choices.name}-logs",
            location=args.choices.location,
            sku=WorkspaceSkuArgs(name="PerGB2018"),
            retention_in_days=args.retention_days,
            # Agents sign in with their identities; the workspace's keys are not needed.
            features=WorkspaceFeaturesArgs(disable_local_auth=True),
            tags=args.tags,
            opts=self.child(),
        )
        self.containers = None if is_isolated(args.choices.network) else self._containers(args)
        self.register_outputs({"workspaceId": self.workspace.id})

    def _containers(self, args: LogWorkspaceArgs) -> DataCollectionRule:
        return DataCollectionRule(
            f"{self._name}-containers",
            resource_group_name=args.resource_group,
            data_collection_rule_name="container-logs",
            location=args.choices.location,
            kind="Linux",
            data_sources=DataCollectionRuleDataSourcesArgs(
                extensions=[
                    ExtensionDataSourceArgs(
                        name=ASSOCIATION,
                        extension_name="ContainerInsights",
                        extension_settings={"dataCollectionSettings": {"interval": "1m", "enableContainerLogV2": True}},
                        streams=list(CONTAINER_LOGS),
                    )
                ]
            ),
            destinations=DataCollectionRuleDestinationsArgs(
                log_analytics=[LogAnalyticsDestinationArgs(name=DESTINATION, workspace_resource_id=self.workspace.id)]
            ),
            data_flows=[DataFlowArgs(streams=list(CONTAINER_LOGS), destinations=[DESTINATION])],
            tags=args.tags,
            opts=self.child(),
        )


def keep_logs(name: str, cluster: ManagedCluster, logs: LogWorkspace, opts: pulumi.ResourceOptions) -> None:
    """Send the logs of ``cluster`` and of its containers to the workspace."""
    DiagnosticSetting(
        f"{name}-logs",
        name="control-plane",
        resource_uri=cluster.id,
        workspace_id=logs.workspace.id,
        log_analytics_destination_type="Dedicated",
        logs=[DiagnosticsLogSettingsArgs(category=category, enabled=True) for category in CONTROL_PLANE_LOGS],
        opts=opts,
    )
    if logs.containers:
        DataCollectionRuleAssociation(
            f"{name}-container-logs",
            association_name=ASSOCIATION,
            resource_uri=cluster.id,
            data_collection_rule_id=logs.containers.id,
            opts=opts,
        )
