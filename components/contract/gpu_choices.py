"""Software that runs on the GPU nodes of a cloud's cluster besides the pods of users."""

import re
from typing import Annotated, Final

from pydantic import AfterValidator, Field

from components.contract.choices import ContractModel, Explained

DEVICE_PLUGIN_VERSION: Final = "v0.19.3"
"""NVIDIA's device plug-in that this release is tested with: https://github.com/NVIDIA/k8s-device-plugin/releases."""

_VERSION: Final = r"^v(?!0\.19\.[012]$)\d+\.\d+\.\d+$"
"""Any version except those with the bug NVIDIA/k8s-device-plugin#1692, which #1837 fixes in v0.19.3."""


def _version(text: str) -> str:
    if not re.fullmatch(_VERSION, text):
        raise ValueError(
            f"must be a version, such as {DEVICE_PLUGIN_VERSION}, and none of v0.19.0 to v0.19.2, which give each pod "
            "with a GPU all network adapters of its node"
        )
    return text


class GpuChoices(ContractModel):
    """Software of GPU nodes. Their driver is part of the node image."""

    device_plugin: Annotated[
        Annotated[str, AfterValidator(_version), Field(json_schema_extra={"pattern": _VERSION})],
        Explained("This release is tested with it.", "Which device plug-in offers GPUs to pods."),
    ] = Field(DEVICE_PLUGIN_VERSION, description="Version of NVIDIA's device plug-in.", examples=["v0.19.3"])
    metrics: Annotated[
        bool,
        Explained("Only a cluster with a Prometheus reads them.", "NVIDIA's DCGM exporter on nodes with whole GPUs."),
    ] = Field(
        False,  # noqa: FBT003 it is the default of the key
        strict=True,
        description="Whether nodes with whole GPUs offer metrics of them, and of their pods, to Prometheus.",
        examples=[True],
    )


GpuSoftware = Annotated[
    GpuChoices,
    Field(description="Device plug-in and metrics of GPU nodes.", examples=[{"metrics": True}]),
    Explained("The tested device plug-in, and no metrics.", "Daemons of GPU nodes (docs/gpus.md)."),
]
"""The field ``gpu`` of a cloud's cluster."""
