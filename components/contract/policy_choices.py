"""Stack file model of the policies, read by rules and by admission."""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Final

from pydantic import AfterValidator, Field

from components.contract.choices import ContractModel, Explained
from components.contract.environments import Environment

SELECT_THE_RULES: Final = frozenset({"environment", "profile", "policies", "policyGuard"})
"""Settings of a stack that select its rules, their levels and their limits."""

_IMAGE_PREFIX: Final = r"[a-zA-Z0-9][a-zA-Z0-9._:/@-]*"
_ADDRESS: Final = r"https?://[^\s#\"\\]+"


def _address(text: str) -> str:
    if not re.fullmatch(_ADDRESS, text):
        raise ValueError("must be a URL without a fragment, such as https://wiki.example.com/policies")
    return text


def _image_prefix(text: str) -> str:
    if not re.fullmatch(_IMAGE_PREFIX, text):
        raise ValueError("must be the start of image names without patterns, such as registry.example.com/ml/")
    return text


_ImagePrefixes = tuple[
    Annotated[str, AfterValidator(_image_prefix), Field(json_schema_extra={"pattern": f"^{_IMAGE_PREFIX}$"})], ...
]


class AdmissionMode(StrEnum):
    """How the API server treats an object that violates a mandatory rule."""

    DENY = "deny"
    """It rejects the object."""

    WARN = "warn"
    """It accepts the object with a warning and an audit annotation, for the first weeks of a cluster."""


class PolicyChoices(ContractModel):
    """Options of the policies, under ``policies``."""

    admission: Annotated[
        AdmissionMode,
        Explained(
            "A new cluster has no workloads yet that a rejection could break.",
            "Validation actions of the admission bindings.",
        ),
    ] = Field(
        AdmissionMode.DENY,
        description="Whether admission rejects pods that violate a mandatory rule, or only warns.",
        examples=["warn"],
    )
    approved_registries: Annotated[
        _ImagePrefixes,
        Explained("Trusted registries differ between organisations.", "Images that HK-08 accepts."),
    ] = Field(
        (),
        description="Image prefixes that pods may use; empty allows any.",
        examples=[["registry.example.com/ml/"]],
    )
    documentation: Annotated[
        Annotated[str, AfterValidator(_address), Field(json_schema_extra={"pattern": f"^{_ADDRESS}$"})] | None,
        Explained(
            "Rejections link to the public document that requires the rule.",
            "The link in rejections, such as this address followed by `#pl-01`.",
        ),
    ] = Field(
        None,
        description="Address of a copy of docs/policies.md that users can read.",
        examples=["https://wiki.example.com/clusters/policies.html"],
    )
    jupyter_services: Annotated[
        tuple[str, ...],
        Explained("Interactive work belongs in development; exceptions are explicit.", "Pods that EN-05 accepts."),
    ] = Field(
        (),
        description="Names of the Jupyter services that may run in production.",
        examples=[["jupyter-reports"]],
    )
    largest_pool: Annotated[
        int,
        Explained("Ample for a first cluster, and low enough to catch a typo.", "NG-11's bound."),
    ] = Field(100, ge=1, strict=True, description="Maximum number of nodes of an elastic pool.", examples=[40])
    platform_registries: Annotated[
        _ImagePrefixes,
        Explained("The registry for built images differs between installations.", "Images that HK-08 accepts."),
    ] = Field(
        (),
        description="Image prefixes under which MLRun and Nuclio push the images that they build. Any tag is allowed "
        "there, also `latest`, and they need not be in `approvedRegistries`.",
        examples=[["registry.example.com/mlrun/"]],
    )
    required_tags: Annotated[
        tuple[str, ...],
        Explained("Cost reports need an owner and a cost centre for every resource.", "Tags that HT-01 requires."),
    ] = Field(
        ("environment", "managed-by", "team", "cost-center"),
        description="Tags that every taggable cloud resource must carry.",
        examples=[["environment", "team"]],
    )


def component_choices(inputs: Mapping[str, Any], own: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return the settings that count for the component of a program in another language.

    Reviewers see which settings of the stack file select the rules, but not what a program passes. So if the stack has
    a stack file, these settings come from it; and the stack is production if either source says so.

    Parameters
    ----------
    inputs
        Inputs of the component.
    own
        Settings of the stack file, empty if they cannot be read; None if it has none.
    """
    if own is None:
        return inputs
    is_production = Environment.PROD in (inputs.get("environment"), own.get("environment"))
    return {
        **{key: value for key, value in inputs.items() if key not in SELECT_THE_RULES},
        **{key: value for key, value in own.items() if key in SELECT_THE_RULES},
        **({"environment": Environment.PROD} if is_production else {}),
    }
