"""Judges changes of the EKS stack of tests against its live cluster."""

from typing import Any

import pytest

from support.eks import NODE_GROUP, built, config
from support.eks_state import STACK, Live, components
from workbench.engine.clouds.cluster_component import Conditions
from workbench.engine.clouds.find import cloud_of
from workbench.engine.clouds.way_back import WayBack
from workbench.engine.upgrade_checks import Judgement, judge


def judged(
    changes: dict[str, Any] | None = None,
    live: Live | None = None,
    conditions: Conditions | None = None,
    way_back: WayBack | None = None,
) -> Judgement:
    """Judge the stack file with ``changes`` against the unchanged stack, of which ``live`` differs."""
    return judge(
        cloud_of(STACK, config(changes)), components(live), conditions or {}, lambda: way_back or pytest.fail("asked")
    )


def at(cluster: str, groups: str, **others: str) -> Live:
    """Return versions of control plane, groups, and single groups."""
    names = built().of_type(NODE_GROUP)
    own = {f"test-{name.replace('_', '-')}": version for name, version in others.items()}
    return {"test-cluster": {"version": cluster}} | {name: {"version": own.get(name, groups)} for name in names}
