from typing import Any

import pytest

from components.contract.labels import LabelKey
from components.contract.mlrun_choices import PreemptionMode
from components.contract.taints import OWN_SPOT_TAINT, Taint
from workbench.rehearsal.play.preemption import Placement, with_mode

SPOT = {LabelKey.LIFECYCLE.value: "preemptible"}
BASE = {"igz-clusters.io/user-workloads": "true"}
TOLERATION = OWN_SPOT_TAINT.toleration()
OTHER = {"key": "team", "operator": "Exists"}


def demand(operator: str) -> dict[str, Any]:
    terms = [{"matchExpressions": [{"key": LabelKey.LIFECYCLE.value, "operator": operator, "values": ["preemptible"]}]}]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


@pytest.mark.parametrize(
    ("mode", "taint", "placed"),
    [
        ("allow", OWN_SPOT_TAINT, Placement(BASE, [OTHER, TOLERATION])),
        ("allow", None, Placement(BASE, [OTHER])),
        ("constrain", OWN_SPOT_TAINT, Placement({**BASE, **SPOT}, [OTHER, TOLERATION], demand("In"))),
        ("constrain", None, Placement({**BASE, **SPOT}, [OTHER], demand("In"))),
        ("prevent", OWN_SPOT_TAINT, Placement(BASE, [OTHER])),
        ("prevent", None, Placement(BASE, [OTHER], demand("NotIn"))),
        ("none", OWN_SPOT_TAINT, Placement({**BASE, **SPOT}, [OTHER])),
    ],
)
def test_each_mode_renders_as_mlrun_renders_it(mode: str, taint: Taint | None, placed: Placement) -> None:
    given = Placement({**BASE, **SPOT}, [OTHER])
    assert with_mode(given, PreemptionMode(mode), has_spot=True, taint=taint) == placed


def test_prevent_takes_back_the_authors_toleration_of_spot_nodes() -> None:
    placed = with_mode(Placement(BASE, [TOLERATION]), PreemptionMode.PREVENT, has_spot=True, taint=OWN_SPOT_TAINT)
    assert not placed.tolerations


@pytest.mark.parametrize("mode", PreemptionMode)
def test_no_mode_has_an_effect_without_spot_pools(mode: PreemptionMode) -> None:
    given = Placement({**BASE, **SPOT}, [TOLERATION])
    assert with_mode(given, mode, has_spot=False, taint=None) == given
