"""Names and terms that a stack file uses for pools, each with its grammar."""

import re
from typing import Annotated, Final

from pydantic import AfterValidator, Field

from components.contract.choices import Findings
from components.contract.instances import INSTANCE_TYPES
from components.contract.labels import (
    LABEL_KEY_PATTERN,
    LABEL_VALUE_PATTERN,
    label_key_problem,
    label_value_problem,
)

POOL_NAME_MAX: Final = 12
"""Characters of an AKS Linux pool's name: https://learn.microsoft.com/azure/aks/create-node-pools."""


def _pool_name(name: str) -> str:
    if not (name.isascii() and name.isalnum() and name.islower() and name[0].isalpha()):
        raise ValueError("a pool's name must be lower-case letters and digits, starting with a letter")
    if len(name) > POOL_NAME_MAX:
        raise ValueError(f"a pool's name must have at most {POOL_NAME_MAX} characters, the limit of AKS")
    return name


def _label_key(key: str) -> str:
    if problem := label_key_problem(key):
        raise ValueError(problem)
    return key


def label_value(value: str) -> str:
    """Return a label's value, or raise ``ValueError`` with the reason why it is invalid."""
    if problem := label_value_problem(value):
        raise ValueError(problem)
    return value


_NOT_TAKEN: Final = (
    (r"mac.*\..+", "runs macOS only"),
    (r".+\.metal.*", "is bare metal"),
    (r"(f|vt)\d.*\..+|dl2q\..+|Standard_NP\d.*", "has accelerators that no common device plug-in offers"),
    (r".+\.(nano|micro)", "is too small for a node"),
    (r"Standard_.*\d-\d.*", "has constrained vCPUs"),
    (r"Standard_(DC|EC|NCC)\d.*", "is a confidential machine, which does not support these nodes' encryption at host"),
    (
        r"Standard_[A-RT-Z]+\d+[a-rt-z]*(_.*)?",
        "has no premium storage, which the nodes' disks need: choose one with `s`",
    ),
)
"""Why node groups do not support some machine types of the clouds, by pattern of the name."""


def _instance_type(name: str) -> str:
    findings = Findings()
    if name not in INSTANCE_TYPES:
        reason = next((why for pattern, why in _NOT_TAKEN if re.fullmatch(pattern, name)), None)
        family = re.split(r"(?<=\.)|(?<=[A-Z])(?=\d)", name)[0]
        findings.add(
            f"{reason}; node groups do not support it" if reason else "is not a known machine type",
            given=name,
            allowed=tuple(each for each in INSTANCE_TYPES if each.startswith(family)),
        )
    findings.raise_if_any()
    return name


def _zone(text: str) -> str:
    if not re.fullmatch("[a-f1-3]", text):
        raise ValueError("must be one of cluster.zones: a letter on EKS, such as b for eu-west-1b; a number on AKS")
    return text


PoolName = Annotated[
    str,
    AfterValidator(_pool_name),
    Field(json_schema_extra={"pattern": f"^[a-z][a-z0-9]{{0,{POOL_NAME_MAX - 1}}}$"}),
]
"""A name that every cloud accepts for a node group."""

PoolZone = Annotated[str, AfterValidator(_zone), Field(json_schema_extra={"pattern": "^[a-f1-3]$"})]
"""A zone of a cluster, as ``cluster.zones`` spells it."""

LabelName = Annotated[str, AfterValidator(_label_key), Field(json_schema_extra={"pattern": LABEL_KEY_PATTERN})]
LabelValue = Annotated[str, AfterValidator(label_value), Field(json_schema_extra={"pattern": LABEL_VALUE_PATTERN})]

InstanceTypeName = Annotated[
    str, AfterValidator(_instance_type), Field(json_schema_extra=lambda said: said.update(enum=sorted(INSTANCE_TYPES)))
]
"""A machine type that ``INSTANCE_TYPES`` knows; the list of names is computed only for a schema."""
