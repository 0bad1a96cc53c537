"""SP-05: MLRun and Nuclio recognise spot nodes, or their modes do nothing."""

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from components.contract.lifecycle import Lifecycle
from components.contract.mlrun import PREEMPTIBLE_NODE_SELECTOR, MlrunVariable
from components.contract.taints import Taint
from policies.resource import Stack
from policies.rule import MANDATORY_EVERYWHERE, Context, Finding, Rule, Severity, WholeStack
from policies.values import some
from policies.views.mlrun import MlrunSettingsFacts, mlrun_settings
from policies.views.node_groups import NodeGroupFacts, node_groups
from policies.views.nuclio import NuclioSettingsFacts, nuclio_settings
from policies.views.spot import SPOT_TAINTS


def check(stack: Stack, _: Context) -> Iterator[Finding]:
    """Demand label and taint of the spot groups, no more and no less, wherever MLRun or Nuclio is told anything."""
    told = [
        *((each.urn, _of_mlrun(facts)) for each in stack for facts in mlrun_settings(each)),
        *((each.urn, _of_nuclio(facts)) for each in stack for facts in nuclio_settings(each)),
    ]
    spot = [group for each in stack for group in node_groups(each) if told and group.lifecycle is Lifecycle.SPOT]
    if not spot:
        return
    taints = [taint for taint in SPOT_TAINTS if some(spot, partial(_carries, taint))]
    names = f"the spot nodes of {', '.join(sorted({group.name for group in spot}))}"
    for urn, known in told:
        yield from (Finding(text, urn=urn) for text in _problems(known, names, taints))


@dataclass(frozen=True, slots=True)
class _Known:
    """What one of the two is told of spot nodes."""

    selector_at: str
    selector: Any
    tolerations_at: str
    tolerations: Any
    may_be_empty: bool
    """Whether an empty list of tolerations is as good as none."""


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
        yield f"{known.selector_at} does not say how to tell {names}, wanted {key}: {value}."
    given = known.tolerations
    if any(not isinstance(given, list) or taint.toleration() not in given for taint in taints):
        wanted = " and ".join(map(str, taints))
        yield f"{known.tolerations_at} does not answer the taint of {names}, wanted one for {wanted}."
    if not taints and given is not None and not (given == [] and known.may_be_empty):
        yield f"{known.tolerations_at} is given, wanted nothing: {names} carry no taint."


def _decoded(text: str | None) -> Any:
    """Return what base64 of JSON stands for; None for nothing and for anything else, which MLRun cannot read either."""
    try:
        return json.loads(base64.b64decode(text or "", validate=True))
    except ValueError:
        return None


RULE = Rule(
    id="SP-05",
    slug="spot-nodes-are-known",
    title="MLRun and Nuclio know the spot nodes by the label and the taint that these carry",
    severity=Severity.HIGH,
    level=MANDATORY_EVERYWHERE,
    source="Iguazio best practices, Spot vs. On-demand Usage",
    applies_to=WholeStack(),
    why="Without the label the preemption modes do nothing; with a toleration of a taint that is not there, "
    "the mode prevent keeps nobody away.",
    fix="Tell both what components/contract/mlrun.py derives from the pools; omit tolerations where there is no taint.",
    check=check,
)
