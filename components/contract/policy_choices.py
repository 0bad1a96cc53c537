"""What a stack file may say about the policies: choices that rules and admission read from one place."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from components.contract.choices import ContractModel, Explained


class AdmissionMode(StrEnum):
    """What the API server does with an object that violates a mandatory rule."""

    DENY = "deny"
    """It refuses the object."""

    WARN = "warn"
    """It accepts the object, warns its author and writes an audit annotation: for the first weeks of a cluster."""


class PolicyChoices(ContractModel):
    """Choices about policies, under ``policies``."""

    admission: Annotated[
        AdmissionMode,
        Explained("A new cluster holds nothing yet that a refusal could break.", "Actions of the admission bindings."),
    ] = Field(
        AdmissionMode.DENY,
        description="What happens at admission to a pod that violates a mandatory rule.",
        examples=["warn"],
    )
    approved_registries: Annotated[
        tuple[str, ...],
        Explained("Which registries may be trusted is nobody's guess.", "Images that HK-08 accepts."),
    ] = Field(
        (),
        description="Prefixes of images that pods may run; any, if empty.",
        examples=[["registry.example.com/ml/"]],
    )
    jupyter_services: Annotated[
        tuple[str, ...],
        Explained("Production runs no interactive work unless somebody decided it.", "Pods that EN-05 accepts."),
    ] = Field(
        (),
        description="Names of the Jupyter services that production may run.",
        examples=[["jupyter-reports"]],
    )
    largest_pool: Annotated[
        int,
        Explained("Far above what a first cluster needs, and below what a typing error costs.", "NG-11's bound."),
    ] = Field(100, ge=1, strict=True, description="Most nodes that an elastic pool may grow to.", examples=[40])
    required_tags: Annotated[
        tuple[str, ...],
        Explained("Who pays and who answers must be readable from the bill.", "Tags that HT-01 demands."),
    ] = Field(
        ("environment", "managed-by", "team", "cost-center"),
        description="Tags that every taggable cloud resource carries.",
        examples=[["environment", "team"]],
    )
