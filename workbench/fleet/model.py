"""Model of ``fleet.yaml``: which stacks run in which order."""

from typing import Annotated, Final

from pydantic import AfterValidator, Field, field_validator

from components.contract.choices import ContractModel, Findings
from components.contract.labels import is_dns_label
from workbench.rehearsal.scenario.durations import Moment

AT_ONCE: Final = 2
"""Stacks at the same time, by default: each has an engine, its plug-ins, a program and a policy pack of its own."""

AT_ONCE_MAX: Final = 32
WAVES_MAX: Final = 32


def _label(name: str) -> str:
    if not is_dns_label(name):
        raise ValueError("must be 1 to 63 lower-case letters, digits or '-', no '-' at the ends")
    return name


class Wave(ContractModel):
    """Stacks that run together, after all earlier waves."""

    name: Annotated[str, AfterValidator(_label)] = Field(
        description="Name of the wave, in reports and for `--wave`.", examples=["canary"]
    )
    stacks: tuple[str, ...] = Field(
        min_length=1,
        description="Names of stacks, or patterns with * and ?, which take the stacks that no earlier wave has.",
        examples=[["acme-dev", "*-staging"]],
    )
    failures: int = Field(
        0,
        ge=0,
        le=100,
        strict=True,
        description="How many stacks may fail before no other stack of this wave and no later wave starts. Default: 0.",
        examples=[1],
    )
    bake: Moment = Field(
        0,
        validate_default=False,
        description="How long to wait after the wave before the next step. Default: 0s.",
        examples=["30m"],
    )
    verify: bool = Field(
        False,  # noqa: FBT003 it is the default of the key
        strict=True,
        description="Whether `up` also runs `verify` on the stacks of the wave, after `bake`. Default: false.",
        examples=[True],
    )


class Fleet(ContractModel):
    """The content of ``fleet.yaml``."""

    at_once: int = Field(
        AT_ONCE,
        ge=1,
        le=AT_ONCE_MAX,
        strict=True,
        description=f"Stacks at the same time. Default: {AT_ONCE}.",
        examples=[4],
    )
    waves: tuple[Wave, ...] = Field(
        min_length=1,
        max_length=WAVES_MAX,
        description="Waves, in order.",
        examples=[[{"name": "canary", "stacks": ["acme-dev"]}, {"name": "rest", "stacks": ["*"]}]],
    )

    @field_validator("waves", mode="after")
    @classmethod
    def _have_names_of_their_own(cls, waves: tuple[Wave, ...]) -> tuple[Wave, ...]:
        findings, seen = Findings(), set[str]()
        for index, wave in enumerate(waves):
            if wave.name in seen:
                findings.add("is the name of an earlier wave", index, "name", given=wave.name)
            seen.add(wave.name)
        findings.raise_if_any()
        return waves
