"""Compares a cluster with its passport."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from workbench.engine.declared_fields import shown, spelled
from workbench.passport.claims import CONTRACT, SUBJECTS
from workbench.passport.fingerprint import deviations, fingerprints
from workbench.passport.model import Fingerprint, Passport, Result
from workbench.passport.reading import Sight
from workbench.verification.deviation import Place, Verification

_ABSENT: Final = "does not exist"

_OF_MLRUN: Final = "mlrun-"
"""Start of the ids of checks that read pods, which are not compared as objects."""


@dataclass(frozen=True)
class Difference:
    """Something that differs from the passport.

    Parameters
    ----------
    where
        Object and field.
    then, now
        What the passport records, and what the cluster has now.
    """

    where: str
    then: str
    now: str

    def as_json(self) -> dict[str, str]:
        """Return its fields for scripts."""
        return {"where": self.where, "then": self.then, "now": self.now}


def compare(passport: Passport, sight: Sight, verification: Verification) -> tuple[Difference, ...]:
    """Return what changed since a passport was made.

    Parameters
    ----------
    passport
        The passport; its signature was verified.
    sight
        The cluster now.
    verification
        The result of ``verify`` for it now.
    """
    if passport.cluster.uid != sight.uid:
        return (Difference("Cluster", f"UID {passport.cluster.uid}", f"UID {sight.uid}: it is another cluster"),)
    changed = dict(_objects(passport, sight))
    version = passport.cluster.version
    known = {(each.check, each.where, each.problem) for each in passport.deviations}
    places = [each.place for _, each in verification.deviations]
    new = (
        Difference(f"{each.check}: {each.where}", "as the stack demands", each.problem)
        for each, place in zip(deviations(verification), places, strict=True)
        if (each.check, each.where, each.problem) not in known
        # Changed fields are named already.
        if not any(place.covers(found) or found.covers(place) for found in changed)
    )
    return (
        *([Difference("API server, version", version, sight.version)] if version != sight.version else []),
        *changed.values(),
        *new,
        *_no_longer_judged(passport, sight, verification),
    )


def _no_longer_judged(passport: Passport, sight: Sight, verification: Verification) -> Iterator[Difference]:
    """Yield the checks of MLRun that had passed, and now have nothing to judge: it was removed or stopped."""
    passed = {claim.id for claim in passport.of(Result.PASSED)}
    expected = ("", sight.contract.unsettled(sight.snapshot.taken))  # outside office hours
    for check, outcome in verification.outcomes.items():
        if check.startswith(_OF_MLRUN) and outcome.absent not in expected and f"{CONTRACT}/{check}" in passed:
            yield Difference(f"{check}: {SUBJECTS[check]}", "passed", outcome.absent)


def _objects(passport: Passport, sight: Sight) -> Iterator[tuple[Place, Difference]]:
    then, now = ({_key(each): each for each in found} for found in (passport.objects, fingerprints(sight)))
    for key in sorted({*then, *now}):
        before, after = then.get(key), now.get(key)
        kind, namespace, name = key
        if before is None or after is None:
            place = Place(kind, name, namespace)
            states = (_ABSENT if each is None else "exists" for each in (before, after))
            yield place, Difference(str(place), *states)
        else:
            for path, old, new in differences(before.fields, after.fields):
                place = Place(kind, name, namespace, path)
                yield place, Difference(str(place), shown(old), shown(new))


def _key(entry: Fingerprint) -> tuple[str, str, str]:
    return entry.kind, entry.namespace, entry.name


def differences(then: Any, now: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield path, old and new value of each part in which two JSON values differ; None stands for an absent one."""
    if isinstance(then, Mapping) and isinstance(now, Mapping):
        for key in sorted({*then, *now}):
            yield from differences(then.get(key), now.get(key), spelled(path, key))
    elif isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        for index, (old, new) in enumerate(zip(then, now, strict=True)):
            yield from differences(old, new, f"{path}[{index}]")
    elif then != now or isinstance(then, bool) != isinstance(now, bool):
        yield path, then, now
