"""SP-05: MLRun and Nuclio know the label and the taint of spot nodes."""

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from components.contract.clusters import SPOT_TAINTS
from components.contract.lifecycle import Lifecycle
from components.contract.mlrun import PREEMPTIBLE_NODE_SELECTOR, MlrunVariable
from components.contract.taints import Taint
from policies.resource import Stack
from policies.rule import MANDATORY_EVERYWHERE, Context, Finding, Rule, Severity, WholeStack
from policies.values import some
from policies.views.mlrun import MlrunSettingsFacts, mlrun_settings
from policies.views.node_groups import NodeGroupFacts, node_groups
from policies.views.nuclio import NuclioSettingsFacts, nuclio_settings


def check(stack: Stack, _: Context) -> Iterator[Finding]:
    """Require exactly the label and the taint of the spot groups in every settings object of MLRun and Nuclio."""
    settings = [
        *((each.urn, _of_mlrun(facts)) for each in stack for facts in mlrun_settings(each)),
        *((each.urn, _of_nuclio(facts)) for each in stack for facts in nuclio_settings(each)),
    ]
    spot = [group for each in stack for group in node_groups(each) if settings and group.lifecycle is Lifecycle.SPOT]
    if not spot:
        return
    taints = [taint for taint in SPOT_TAINTS if some(spot, partial(_carries, taint))]
    names = f"the spot nodes of {', '.join(sorted({group.name for group in spot}))}"
    for urn, known in settings:
        yield from (Finding(text, urn=urn) for text in _problems(known, names, taints))


@dataclass(frozen=True, slots=True)
class _Known:
    """Spot settings of MLRun or Nuclio."""

    selector_at: str
    selector: Any
    tolerations_at: str
    tolerations: Any
    may_be_empty: bool
    """Whether an empty list of tolerations means none."""


def _of_mlrun(facts: MlrunSettingsFacts) -> _Known:
    selector, tolerations = MlrunVariable.SPOT_SELECTOR, MlrunVariable.SPOT_TOLERATIONS
    return _Known(
        f"{facts.where}, {selector},",
        _decoded(facts.get(selector)),
        f"{facts.where}, {tolerations},",
        _decoded(facts.get(tolerations)),
        may_be_empty=True,
    )


def _of_nuclio(facts: NuclioSettingsFacts) -> _Known:
    at = f"{facts.where}, preemptibleNodes"
    return _Known(
        f"{at}.nodeSelector,",
        facts.spot_selector,
        f"{at}.tolerations,",
        facts.spot_tolerations,
        may_be_empty=False,
    )


def _carries(taint: Taint, group: NodeGroupFacts) -> bool:
    return group.carries_one_of(taint)


def _problems(known: _Known, names: str, taints: list[Taint]) -> Iterator[str]:
    if known.selector != PREEMPTIBLE_NODE_SELECTOR:
        [(key, value)] = PREEMPTIBLE_NODE_SELECTOR.items()
        yield f"{known.selector_at} does not select {names}; expected {key}: {value}."
    given = known.tolerations
    if any(not isinstance(given, list) or taint.toleration() not in given for taint in taints):
        wanted = " and ".join(map(str, taints))
        yield f"{known.tolerations_at} does not tolerate the taint of {names}; expected {wanted}."
    if not taints and given is not None and not (given == [] and known.may_be_empty):
        yield f"{known.tolerations_at} is set; expected no tolerations, because {names} have no taint."


def _decoded(text: str | None) -> Any:
    """Decode base64 of JSON; None if absent or invalid, which MLRun cannot read either."""
    try:
        return json.loads(base64.b64decode(text or "", validate=True))
    except ValueError:
        return None


RULE = Rule(
    id="SP-05",
    slug="spot-nodes-are-known",
    title="MLRun and Nuclio must know the label and the taint of spot nodes",
    severity=Severity.HIGH,
    level=MANDATORY_EVERYWHERE,
    source="Iguazio best practices, Spot vs. On-demand Usage",
    applies_to=WholeStack(),
    why="Without the label the preemption modes have no effect; with a toleration of a missing taint, "
    "the mode prevent has no effect.",
    fix="Use the values that components/contract/mlrun.py derives from the pools; omit tolerations without a taint.",
    check=check,
)
