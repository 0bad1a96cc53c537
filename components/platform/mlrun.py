"""Settings that MLRun reads at start."""

from dataclasses import dataclass, field

import pulumi
from pulumi_kubernetes.core.v1 import ConfigMap

from components.base import PlatformComponent
from components.contract.groups import NodeGroup
from components.contract.mlrun import OVERRIDE_CONFIG_MAP, account_environment, override_environment
from components.contract.mlrun_choices import MlrunChoices
from components.contract.pod_resources import PodResources
from components.contract.taints import Taint
from components.ownership import owned


@dataclass(frozen=True, kw_only=True)
class MlrunSettingsArgs:
    """Inputs of MLRun's settings."""

    namespace: pulumi.Input[str]
    groups: tuple[NodeGroup, ...]
    spot_taint: Taint | None
    pod_resources: PodResources
    choices: MlrunChoices = field(default_factory=MlrunChoices)
    corrects: bool = False
    """Whether the API server leads pods that request a GPU to GPU nodes. Default: it does not."""
    service_account: str = ""
    """Service account of functions that set none. Default: Kubernetes' own."""


class MlrunSettings(PlatformComponent):
    """ConfigMap ``mlrun-override-env``, created before the chart so that MLRun's API starts with it.

    The API reads it at start only: restart its pods after a change.
    """

    def __init__(self, name: str, args: MlrunSettingsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("igz-clusters:platform:MlrunSettings", name, None, opts)
        ConfigMap(
            f"{name}-{OVERRIDE_CONFIG_MAP}",
            metadata=owned(OVERRIDE_CONFIG_MAP, namespace=args.namespace),
            data={
                **override_environment(
                    args.groups, args.spot_taint, args.pod_resources, args.choices, corrects=args.corrects
                ),
                **account_environment(args.service_account),
            },
            opts=self.child(),
        )
        self.register_outputs({"namespace": args.namespace, "configMap": OVERRIDE_CONFIG_MAP})
