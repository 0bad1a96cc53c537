"""Declared objects: whether each exists, is not being deleted, and has the declared fields."""

from collections.abc import Iterable, Iterator

from workbench.engine.declared_fields import differing, shown
from workbench.engine.live_objects import ObjectKey
from workbench.verification.contract import Contract
from workbench.verification.deviation import Deviation, Outcome, Place
from workbench.verification.snapshot import Snapshot

_NOT_SHOWN = "ConfigMap"
"""Kind whose values stay out of messages: others may have put secrets there."""


def declared_objects(contract: Contract, snapshot: Snapshot, reported: Iterable[Place] = ()) -> Outcome:
    """Compare every declared object with the live one.

    Parameters
    ----------
    contract, snapshot
        What is declared, and what is there.
    reported
        Places that other checks reported already; deviations there are left out. Default: none.
    """
    known = tuple(reported)
    found = (each for key in contract.declared for each in _of(key, contract, snapshot))
    deviations = tuple(each for each in found if not any(place.covers(each.place) for place in known))
    return Outcome(f"{len(contract.declared)} objects of the last `up`", deviations)


def _of(key: ObjectKey, contract: Contract, snapshot: Snapshot) -> Iterator[Deviation]:
    kind, namespace, name = key
    place = Place(kind, name, namespace)
    live = snapshot.objects.get(key)
    if live is None:
        if key not in contract.patched:  # patched objects belong to other owners, who may delete them
            yield Deviation(place, "does not exist", "an object of the stack", contract.up)
    elif live.content["metadata"].get("deletionTimestamp"):
        held = ", ".join(live.content["metadata"].get("finalizers") or ()) or "no finalizer"
        action = f"Wait until it is gone, or remove what holds it. {contract.up}"
        yield Deviation(place, f"is being deleted ({held})", "an object of the stack", action)
    else:
        for path, value, wanted in differing(contract.declared[key], live.content):
            texts = ("another value", "the declared one") if kind == _NOT_SHOWN else (shown(value), shown(wanted))
            yield Deviation(Place(kind, name, namespace, path), f"is {texts[0]}", texts[1], contract.up)
