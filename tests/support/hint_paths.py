"""Whether the field that a hint names is one that a user may write."""

from components.contract.labels import WellKnownLabel
from infra.config import StackConfig
from infra.config.tree import follow, tree
from workbench.rehearsal.scenario.kinds import WorkKind, key_problem
from workbench.rehearsal.scenario.model import Scenario
from workbench.rehearsal.verdicts.verdict import SCENARIO, Hint

ZONE = WellKnownLabel.ZONE.value
OF_PODS = ("containers", "nodeSelector", "tolerations", "priorityClassName", "volumes")
"""Fields of a pod's spec that decide where it runs."""


def problem(hint: Hint, scenario: Scenario) -> str:
    """Return why the model of the scenario, or of the stack file, has no such field; empty if it has it."""
    parts = tuple(hint.path.split(".")) if hint.path else ()
    if hint.file != SCENARIO:
        return "" if not parts or follow(tree(StackConfig), parts)[1] else "no key of stack files"
    section, name, key, *inner = (*parts, "", "", "")[: max(len(parts), 3)]
    if section == "works" and name not in scenario.works:
        return "no such work"
    if key and (why := key_problem(key, scenario.works[name].kind)):
        return why
    if key == "pod" and scenario.works[name].kind is WorkKind.POD and inner:
        return "" if len(inner) == 1 and inner[0] in OF_PODS else "no field of a pod"
    return "" if follow(tree(Scenario), parts)[1] else "no key of scenarios"
