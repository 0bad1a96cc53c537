"""Labels by which the rehearsal recognises its own pods, and annotations that simulated pods obey."""

import re
from typing import Final

from components.contract.labels import OWN_DOMAIN

WORK: Final = f"{OWN_DOMAIN}/rehearsal-work"
"""Name of the scenario's work."""

UNIT: Final = f"{OWN_DOMAIN}/rehearsal-unit"
"""The arrival that a pod belongs to, such as ``train-3``."""

TEAM: Final = f"{OWN_DOMAIN}/rehearsal-team"
"""Team of the work; absent without one."""

KIND: Final = f"{OWN_DOMAIN}/rehearsal-kind"
"""Kind of the work, a ``WorkKind``."""

PART: Final = f"{OWN_DOMAIN}/rehearsal-part"
"""Part that the pod plays in its unit, such as ``driver`` or ``step-2``."""

RUN_FOR: Final = f"{OWN_DOMAIN}/run-for"
"""Annotation: how long a simulated pod runs until it succeeds, in real time, such as ``1500ms``."""

NODE_POOL: Final = "karpenter.sh/nodepool"
"""Label of Karpenter's nodes (kubernetes-sigs/karpenter v1.13.0, ``pkg/apis/v1/labels.go``)."""

DO_NOT_DISRUPT: Final = "karpenter.sh/do-not-disrupt"
"""Annotation ``true`` of pods whose node Karpenter does not remove to save money (the same file)."""

ENDLESS: Final = "8760h"
"""Value of ``RUN_FOR`` of pods that never end: without one, pods of Jobs succeed at once."""


def object_name(text: str) -> str:
    """Return ``text`` as a part of an object's name: small letters, digits and ``-``, at most 40 characters."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:40].strip("-") or "work"


def label_value(text: str) -> str:
    """Return ``text`` as a label's value: other characters become ``-``."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", text)[:63].strip("-_.")
