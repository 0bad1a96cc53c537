"""Passports of the clusters of ``support.verification``, in which nothing deviates."""

from collections.abc import Callable
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from policies.registry import RULES
from support.verification import TAKEN, Objects, manifest, site
from workbench.engine.check import Checked
from workbench.engine.live_objects import LiveObject
from workbench.passport.making import Findings, made
from workbench.passport.model import Claim, Passport
from workbench.passport.origin import Origin
from workbench.passport.reading import Sight
from workbench.stacks import Stack
from workbench.verification.snapshot import Snapshot
from workbench.verification.verify import verify

NOW: Final = datetime(2026, 11, 22, 12, 1, tzinfo=UTC)
UID: Final = "0f8b9a52-7a4e-4a55-9a0c-2f4dbe1c4e51"
SERVED: Final = frozenset({"apps/v1", "resource.k8s.io/v1"})
ORIGIN: Final = Origin("0.2.0", "a" * 40, "b" * 40)
CHECKED: Final = Checked("test", 1, len(RULES), (), (), (), frozenset(rule.id for rule in RULES))
"""A check in which every rule judged something, and found nothing."""

ADD_ON: Final = ("DaemonSet", "kube-system", "kube-proxy")
ADMINS: Final = ("ClusterRoleBinding", "", "cluster-admin")


def stack(kind: str = "local") -> Stack:
    return Stack("test", Path("Pulumi.test.yaml"), {}, site(kind).contract.config)


def others() -> list[dict[str, Any]]:
    """Return what a cluster has that no stack declares."""
    group = {"kind": "Group", "name": "system:masters"}
    proxy = {"name": "kube-proxy", "image": "registry.k8s.io/kube-proxy:v1.36.1"}
    return [
        manifest("Namespace", "kube-system", metadata={"uid": UID}),
        manifest("DaemonSet", ADD_ON[2], ADD_ON[1], spec={"template": {"spec": {"containers": [proxy]}}}),
        manifest(ADMINS[0], ADMINS[2], roleRef={"kind": "ClusterRole", "name": "cluster-admin"}, subjects=[group]),
    ]


def sight(
    kind: str = "local", plant: Callable[[Objects], object] = lambda _: None, version: str = "v1.36.1", uid: str = UID
) -> Sight:
    """Return what is seen of a cluster of a kind after ``plant`` changed its objects."""
    objects = deepcopy(site(kind).objects)
    for each in others():
        key = each["kind"], each["metadata"].get("namespace", ""), each["metadata"]["name"]
        declared = objects.get(key, {})
        objects[key] = {**declared, **each, "metadata": {**declared.get("metadata", {}), **each["metadata"]}}
    plant(objects)
    snapshot = Snapshot({key: LiveObject(each) for key, each in objects.items()}, taken=TAKEN)
    return Sight(site(kind).contract, snapshot, uid, version, SERVED)


def passport(
    kind: str = "local", plant: Callable[[Objects], object] = lambda _: None, days: int = 30, **found: Any
) -> Passport:
    """Return the passport of such a cluster."""
    seen = found.pop("sight", None) or sight(kind, plant)
    given = {"stack": stack(kind), "origin": ORIGIN, "checked": CHECKED, **found}
    findings = Findings(sight=seen, verification=verify(seen.contract, seen.snapshot), **given)
    return made(findings, NOW, timedelta(days=days))


def by_id(made: Passport) -> dict[str, Claim]:
    """Return the claims of a passport by their ids, of which none may be there twice."""
    claims = {claim.id: claim for claim in made.claims}
    assert len(claims) == len(made.claims), "an id twice"
    return claims
