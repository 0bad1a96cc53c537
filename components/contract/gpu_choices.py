"""What runs on the GPU nodes of a cloud's cluster beside the pods of users."""

import re
from typing import Annotated, Final

from pydantic import AfterValidator, Field

from components.contract.choices import ContractModel, Explained

DEVICE_PLUGIN_VERSION: Final = "v0.19.3"
"""NVIDIA's device plug-in that this release is tested with: https://github.com/NVIDIA/k8s-device-plugin/releases."""

_VERSION: Final = r"^v\d+\.\d+\.\d+$"


def _version(text: str) -> str:
    if not re.fullmatch(_VERSION, text):
        raise ValueError(f"must be a version, such as {DEVICE_PLUGIN_VERSION}")
    return text


class GpuChoices(ContractModel):
    """Software of GPU nodes. Their driver is part of the node image."""

    device_plugin: Annotated[
        Annotated[str, AfterValidator(_version), Field(json_schema_extra={"pattern": _VERSION})],
        Explained("This release is tested with it.", "Which device plug-in offers GPUs to pods."),
    ] = Field(DEVICE_PLUGIN_VERSION, description="Version of NVIDIA's device plug-in.", examples=["v0.19.3"])
    metrics: Annotated[
        bool,
        Explained("Only a cluster with a Prometheus reads them.", "NVIDIA's DCGM exporter on every GPU node."),
    ] = Field(
        False,  # noqa: FBT003 it is the default of the key
        strict=True,
        description="Whether GPU nodes offer metrics of their GPUs, and of the pods that use them, to Prometheus.",
        examples=[True],
    )
