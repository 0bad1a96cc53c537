"""Computes a repaired state from a state, a preview and lookup results. Pure: makes no queries."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from components.contract.engine_marks import MARK, SENTINELS
from workbench.engine.pending import (
    ResourceIdentity,
    awaits_replacement,
    being_created,
    entered,
    id_from_inputs,
    place_of,
    resolved,
)
from workbench.offline.clouds import CLOUDS as PACKAGES
from workbench.recovery.cloud.lookup import DEFAULTS, LookupQuery, LookupResult
from workbench.report.values import SECRET

AZURE: Final = "azure-native:"
CLOUDS: Final = tuple(f"{package}:" for package in PACKAGES)
"""Prefixes of the types that can be looked up."""

_CREATING: Final = ("create", "replace")
"""Operations of a preview that create a resource. Its JSON has `replace` in place of `create-replacement`:
https://github.com/pulumi/pulumi/blob/v3.259.0/pkg/backend/display/display.go, ``shouldShow``.
"""


class Outcome(StrEnum):
    """Result of looking up a resource that is not in the state."""

    CREATED = "made"
    """It exists once and belongs to the stack."""
    ABSENT = "absent"
    """It does not exist."""
    FOREIGN = "foreign"
    """A resource of that name exists, but lacks the stack's tag."""
    AMBIGUOUS = "ambiguous"
    """Several candidates exist."""


@dataclass(frozen=True)
class Answer:
    """The result of looking up one resource."""

    query: LookupQuery
    outcome: Outcome
    candidates: tuple[LookupResult, ...] = ()

    @property
    def found(self) -> LookupResult | None:
        """The created resource, if it exists once and belongs to the stack."""
        return self.candidates[0] if self.outcome is Outcome.CREATED else None

    @property
    def made(self) -> ResourceIdentity | None:
        """Id and outputs to enter into the state; None if it was not created."""
        if self.found is None:
            return None
        if self.found.known_outputs is not None:
            return ResourceIdentity(self.found.id, self.found.known_outputs)
        # With outputs the engine refreshes the resource instead of importing it; the import id differs for some types.
        outputs = {**self.query.inputs, **self.found.inputs, **self.found.outputs}
        return ResourceIdentity(self.found.id, _without_notes(outputs))


def answer_of(
    query: LookupQuery,
    found: Sequence[LookupResult],
    taken: frozenset[tuple[str, str]],
    is_ours: Callable[[LookupResult], bool],
) -> Answer:
    """Return the answer to a query: its results, classified.

    Parameters
    ----------
    query, found
        The query and its results.
    taken
        Type and id of all resources that are already in the state.
    is_ours
        Returns whether a resource belongs to the stack.
    """
    free = [each for each in found if identity(query.type, each.id) not in taken]
    if not (ours := tuple(filter(is_ours, free))):
        return Answer(query, Outcome.FOREIGN if free else Outcome.ABSENT, tuple(free))
    return Answer(query, Outcome.CREATED if len(ours) == 1 else Outcome.AMBIGUOUS, ours)


def identity(type_: str, id_: str) -> tuple[str, str]:
    """Return a unique key of a resource; Azure's ids vary in letter case."""
    return type_, id_.lower() if type_.startswith(AZURE) else id_


def identities(deployment: Mapping[str, Any]) -> frozenset[tuple[str, str]]:
    """Return type and id of all resources in the state, without those that were deleted before their replacement."""
    resources = deployment.get("resources") or []
    return frozenset(
        identity(each["type"], each["id"]) for each in resources if each.get("id") and not awaits_replacement(each)
    )


def pending_creations(deployment: Mapping[str, Any]) -> list[LookupQuery]:
    """Return queries for the cloud resources that an interrupted run was creating."""
    begun = filter(_is_in_a_cloud, being_created(deployment))
    return [LookupQuery(each["urn"], each["type"], each.get("inputs") or {}) for each in begun]


def repaired(deployment: Mapping[str, Any], answers: Sequence[Answer]) -> dict[str, Any]:
    """Return the deployment with answered pending creations resolved; ambiguous ones stay pending.

    Raises
    ------
    UnresolvableError
        A pending resource belongs to an unknown provider.
    """
    by_urn = {each.query.urn: each for each in answers}
    stay = {urn for urn, each in by_urn.items() if each.outcome is Outcome.AMBIGUOUS}
    operations = deployment.get("pending_operations") or []

    def made(resource: Mapping[str, Any]) -> ResourceIdentity | None:
        answer = by_urn.get(resource["urn"])
        return answer.made if answer else id_from_inputs(resource)

    clear = [each for each in operations if each["resource"]["urn"] not in stay]
    result = resolved({**deployment, "pending_operations": clear}, made)
    if open_ := [each for each in operations if each["resource"]["urn"] in stay]:
        result["pending_operations"] = deepcopy(open_)
    return result


@dataclass(frozen=True)
class Planned:
    """The resources that a preview creates and registers."""

    creations: tuple[LookupQuery, ...]
    """Resources to create in the cloud, in the program's order."""
    states: Mapping[str, Mapping[str, Any]]
    """Resources as the state would have them, by URN, without unknown values."""


def planned(preview: Mapping[str, Any], deployment: Mapping[str, Any]) -> Planned:
    """Return the resources that a preview creates and registers.

    Parameters
    ----------
    preview
        Output of ``pulumi preview --json``.
    deployment
        The state; resources whose provider is not in it cannot exist yet.
    """
    known = {f"{each['urn']}::{each['id']}" for each in deployment.get("resources") or [] if each.get("id")}
    begun = [step for step in preview.get("steps") or [] if step["op"] in _CREATING and step.get("newState")]
    states = {step["urn"]: _without_unknowns(step["newState"]) for step in begun}
    creations = (
        LookupQuery(urn, state["type"], state.get("inputs") or {}, is_planned=True)
        for urn, state in states.items()
        if _is_in_a_cloud(state) and state.get("provider") in known
    )
    return Planned(tuple(creations), states)


def adopted(deployment: Mapping[str, Any], plan: Planned, answers: Sequence[Answer]) -> dict[str, Any]:
    """Return the deployment with the existing resources that the preview would create again."""
    resources, taken = deepcopy(list(deployment["resources"])), identities(deployment)
    for answer in answers:
        if (found := answer.found) and (made := answer.made) and identity(answer.query.type, made.id) not in taken:
            state = plan.states[answer.query.urn]
            inputs = {**state["inputs"], **found.inputs}
            entry = {**state, "id": made.id, "inputs": inputs, "outputs": dict(made.outputs)}
            for each in (*_missing_parents(state, plan, {each["urn"] for each in resources}), entry):
                before = resources[: place_of(each, resources)]
                resources = entered(_entry(each, {known["urn"] for known in before}), resources)
    return {**deepcopy(dict(deployment)), "resources": resources}


def _entry(state: Mapping[str, Any], known: set[str]) -> dict[str, Any]:
    """Return a resource's state entry without references to resources missing from the state."""
    per_input = state.get("propertyDependencies") or {}
    return {
        **state,
        "dependencies": [urn for urn in state.get("dependencies") or [] if urn in known],
        "propertyDependencies": {key: [urn for urn in urns or [] if urn in known] for key, urns in per_input.items()},
    }


def _missing_parents(state: Mapping[str, Any], plan: Planned, known: set[str]) -> list[Mapping[str, Any]]:
    """Return the parent components of a resource that the state lacks, outermost first."""
    missing = list[Mapping[str, Any]]()
    while (urn := state.get("parent")) and urn not in known:
        state = plan.states[urn]
        missing.insert(0, state)
    return missing


def _is_in_a_cloud(resource: Mapping[str, Any]) -> bool:
    return bool(resource.get("custom")) and str(resource["type"]).startswith(CLOUDS)


def _without_unknowns(state: Mapping[str, Any]) -> dict[str, Any]:
    inputs = {key: value for key, value in (state.get("inputs") or {}).items() if _is_known(value)}
    if DEFAULTS in inputs:
        inputs[DEFAULTS] = [key for key in inputs[DEFAULTS] if key in inputs]
    return {**state, "inputs": inputs, "outputs": {}}


def _is_known(value: Any) -> bool:
    return not any(text in SENTINELS or text in (MARK, SECRET) for text in _texts(value))


def _without_notes(value: Any) -> Any:
    """Return a value without the provider's records about inputs, which outputs lack."""
    if isinstance(value, dict):
        return {key: _without_notes(each) for key, each in value.items() if key != DEFAULTS}
    return [_without_notes(each) for each in value] if isinstance(value, list) else value


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
    elif isinstance(value, str):
        yield value
