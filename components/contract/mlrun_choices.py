"""Stack file model of MLRun's settings that differ between organisations (MLRun 1.12.1, ``mlrun/config.py``)."""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Final

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from components.contract.choices import ContractModel, Explained


class PreemptionMode(StrEnum):
    """Whether a function's pods may run on spot nodes, in MLRun's and Nuclio's spelling (MLRun job resources)."""

    ALLOW = "allow"
    CONSTRAIN = "constrain"
    """Only on spot nodes."""

    PREVENT = "prevent"
    NONE = "none"
    """MLRun leaves the pods unchanged."""


DEFAULT_PREEMPTION_MODE: Final = PreemptionMode.PREVENT

STATE_THRESHOLDS: Final[Mapping[str, str]] = {
    "pending_scheduled": "1h",
    "pending_not_scheduled": "24h",
    "image_pull_backoff": "1h",
    "executing": "24h",
}
"""How long a run may stay in each state: MLRun's defaults, except that a run without a node is aborted after a day."""

FOREVER: Final = "-1"
"""Threshold of a state in which a run may stay without limit."""

_WAIT: Final = rf"{FOREVER}|[1-9][0-9]{{0,5}}[smhdw]"


def _wait(text: str) -> str:
    if not re.fullmatch(_WAIT, text):
        raise ValueError(f"must be a whole number of s, m, h, d or w, such as 24h, or {FOREVER} for no limit")
    return text


Wait = Annotated[str, AfterValidator(_wait), Field(json_schema_extra={"pattern": f"^({_WAIT})$"})]
"""How long a run may stay in a state."""


class AutoMountType(StrEnum):
    """What MLRun mounts into pods of functions that mount nothing themselves (``mlrun/runtimes/pod.py``).

    MLRun's type ``env`` is left out: its parameters are values of variables, so credentials would be in plain text.
    """

    NONE = "none"
    AUTO = "auto"
    """V3IO on a full platform, else nothing."""

    V3IO_CREDENTIALS = "v3io_credentials"
    V3IO_FUSE = "v3io_fuse"
    PVC = "pvc"
    S3 = "s3"
    """Variables for S3, from a Secret or the pods' identity."""

    SECRET_ENV = "secret_env"  # noqa: S105 MLRun's name of the type
    """All keys of a Secret as variables."""


CLAIM: Final = "pvc_name"
"""Parameter of the type pvc that names the claim."""

_PARAMETERS: Final[Mapping[AutoMountType, tuple[str, ...]]] = {
    AutoMountType.PVC: (CLAIM, "volume_name", "volume_mount_path"),
    AutoMountType.S3: ("secret_name", "endpoint_url", "prefix", "aws_region", "non_anonymous"),
    AutoMountType.SECRET_ENV: ("secret_name",),
}
"""Parameters of each type that contain no credential (``mlrun/runtimes/mounts.py``)."""

_REQUIRED: Final = {AutoMountType.PVC: CLAIM, AutoMountType.SECRET_ENV: "secret_name"}


_NAME: Final = r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?"
_ADDRESS: Final = r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?(/[a-z0-9._-]+)*"


class AutoMount(ContractModel):
    """What is mounted into functions that mount nothing themselves."""

    type: AutoMountType = Field(description="What is mounted.", examples=["pvc"])
    parameters: Annotated[dict[str, str], Explained("Most types need none.")] = Field(
        {},
        description="Parameters of the mount; Secrets and claims by name.",
        examples=[{"pvc_name": "shared", "volume_mount_path": "/data"}],
    )

    @field_validator("parameters", mode="after")
    @classmethod
    def _fit_the_type(cls, parameters: dict[str, str], info: ValidationInfo) -> dict[str, str]:
        kind = info.data.get("type")
        if kind is None:
            return parameters
        known = _PARAMETERS.get(kind, ())
        if unknown := [name for name in parameters if name not in known]:
            allowed = f"allowed: {', '.join(known)}" if known else "it takes none"
            raise ValueError(f"{', '.join(unknown)} is not a parameter of the type {kind}; {allowed}")
        if (needed := _REQUIRED.get(kind)) and not parameters.get(needed):
            raise ValueError(f"the type {kind} needs the parameter {needed}")
        return parameters


def registry_address(text: str) -> str:
    """Return the address of a registry, or raise ``ValueError``."""
    if not re.fullmatch(_ADDRESS, text):
        raise ValueError(
            "must be a host with an optional port and path, without https://, such as registry.example.com/ml"
        )
    return text


def _secret(text: str) -> str:
    if not re.fullmatch(_NAME, text):
        raise ValueError("must be a Secret's name of small letters, digits, '-' and '.', such as registry-credentials")
    return text


class Registry(ContractModel):
    """Registry to which MLRun pushes the images of functions that it builds."""

    url: Annotated[str, AfterValidator(registry_address), Field(json_schema_extra={"pattern": f"^{_ADDRESS}$"})] = (
        Field(description="Address of the registry, without https://.", examples=["registry.example.com/ml"])
    )
    secret: Annotated[
        Annotated[str, AfterValidator(_secret), Field(json_schema_extra={"pattern": f"^{_NAME}$"})] | None,
        Explained("The registry requires no credentials, or the nodes' identity has them."),
    ] = Field(
        None,
        description="Secret of type kubernetes.io/dockerconfigjson in MLRun's namespace, which you create.",
        examples=["registry-credentials"],
    )


class MlrunChoices(ContractModel):
    """Settings of MLRun that differ between organisations."""

    preemption_mode: Annotated[
        PreemptionMode,
        Explained(
            "MLRun's own default: functions run on spot nodes only if their authors say so.",
            "MLRUN_FUNCTION_DEFAULTS__PREEMPTION_MODE.",
        ),
    ] = Field(
        DEFAULT_PREEMPTION_MODE,
        description="Preemption mode of functions that set none. SP-03 advises against others than prevent.",
        examples=["allow"],
    )
    pending_scheduled: Annotated[
        Wait, Explained("MLRun's own default.", "MLRun's state threshold pending_scheduled.")
    ] = Field(
        STATE_THRESHOLDS["pending_scheduled"],
        description="How long a run may wait on its node, such as for volumes or a slow start, before MLRun aborts it.",
        examples=["2h"],
    )
    pending_not_scheduled: Annotated[
        Wait,
        Explained(
            "A day: elastic pools add nodes within minutes. MLRun itself sets no limit.",
            "MLRun's state threshold pending_not_scheduled.",
        ),
    ] = Field(
        STATE_THRESHOLDS["pending_not_scheduled"],
        description="How long a run may wait for a node before MLRun aborts it; '-1', in quotes, means no limit.",
        examples=["-1"],
    )
    image_pull_backoff: Annotated[
        Wait, Explained("MLRun's own default.", "MLRun's state threshold image_pull_backoff.")
    ] = Field(
        STATE_THRESHOLDS["image_pull_backoff"],
        description="How long a run may wait for an image that cannot be pulled before MLRun aborts it.",
        examples=["30m"],
    )
    executing: Annotated[Wait, Explained("MLRun's own default.", "MLRun's state threshold executing.")] = Field(
        STATE_THRESHOLDS["executing"],
        description="How long a run may take before MLRun aborts it; '-1', in quotes, means no limit.",
        examples=["7d"],
    )
    auto_mount: Annotated[
        AutoMount | None,
        Explained(
            "MLRun CE's chart sets it for its object store; a full platform mounts V3IO.",
            "MLRUN_STORAGE__AUTO_MOUNT_TYPE and MLRUN_STORAGE__AUTO_MOUNT_PARAMS, which win over the chart's.",
        ),
    ] = Field(
        None,
        description="What MLRun mounts into functions that mount nothing themselves.",
        examples=[{"type": "pvc", "parameters": {"pvc_name": "shared", "volume_mount_path": "/data"}}],
    )

    registry: Annotated[
        Registry | None,
        Explained(
            "`values` has the option --registry, and MLRun reads the registry from its chart's values.",
            "MLRUN_HTTPDB__BUILDER__DOCKER_REGISTRY and MLRUN_HTTPDB__BUILDER__DOCKER_REGISTRY_SECRET, which win over "
            "the chart's; default of --registry and --registry-secret of `values`.",
        ),
    ] = Field(
        None,
        description="Registry of the images that MLRun and Nuclio build.",
        examples=[{"url": "registry.example.com/ml", "secret": "registry-credentials"}],
    )

    def with_own(self, own: "MlrunChoices | None") -> "MlrunChoices":
        """Return these settings, replaced by those that ``own`` sets."""
        return self.model_copy(update={name: getattr(own, name) for name in own.model_fields_set}) if own else self
