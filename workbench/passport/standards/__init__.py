"""Controls of benchmarks and requirements of AI conformance: which of them provisioning decides, and by what evidence.

They contain ids and our own wording only; each file names the source of its ids.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Final, Literal, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, model_validator

from components.contract.digests import digest_of
from components.contract.environments import ClusterKind
from components.contract.groups import NodeGroup
from components.contract.policy_choices import AdmissionMode
from workbench.passport.model import Claim, Covers, Evidence, Result, unverified
from workbench.passport.reading import Sight
from workbench.verification.nodes import members

Minor = Literal["1.33", "1.34", "1.35", "1.36"]
"""Minors of Kubernetes of which CNCF has published a list."""

_RANGE: Final = re.compile(r"(.*\.)?(\d+)-(\d+)")


class Need(StrEnum):
    """What a stack must have for a row to be judged."""

    DENIES = "denies"
    """Admission rejects what violates a rule."""
    FABRIC = "fabric"
    """A node of a pool with a fast network runs."""
    GPUS = "gpus"
    """The stack has a GPU pool."""
    GROWS = "grows"
    """The stack has a GPU pool that grows, and that copies of the stack have too."""
    SHARING = "sharing"
    """A node of a pool with shared GPUs runs."""


def _runs(sight: Sight, wanted: Callable[[NodeGroup], object]) -> bool:
    """Return whether a node of a wanted group is there: a pool without nodes shows nothing."""
    return any(each.group and wanted(each.group) for each in members(sight.contract, sight.snapshot))


def _declares(sight: Sight, wanted: Callable[[NodeGroup], object]) -> bool:
    return any(map(wanted, sight.contract.config.groups))


_NEEDS: Final[Mapping[Need, tuple[Callable[[Sight], bool], str]]] = {
    Need.DENIES: (
        lambda sight: sight.contract.config.policies.admission is AdmissionMode.DENY,
        "Admission only warns: policies.admission of the stack file is warn.",
    ),
    Need.FABRIC: (
        lambda sight: _runs(sight, lambda group: group.fabric),
        "No node of a pool with a fast network runs.",
    ),
    Need.GPUS: (lambda sight: _declares(sight, lambda group: group.gpu_resource), "The stack has no GPU pool."),
    Need.GROWS: (
        lambda sight: _declares(
            sight, lambda group: group.gpu_resource and group.is_elastic and group.reservation is None
        ),
        "The stack has no GPU pool that grows, or only reserved ones, which acceptance runs leave out.",
    ),
    Need.SHARING: (
        lambda sight: _runs(sight, lambda group: group.sharing),
        "No node of a pool whose GPUs are shared runs.",
    ),
}


class Row(BaseModel):
    """One control, or several that the same evidence decides."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    ids: tuple[str, ...]
    """Ids; ``3.1.1-4`` stands for four of them."""
    about: str
    """What is claimed, in our own words."""
    covers: Covers
    rests: tuple[str, ...] = ()
    """Claims that it follows from: all of them must have passed."""
    serves: str = ""
    """API that the cluster must serve."""
    declares: str = ""
    """Object that the stack must declare, as ``Kind/name``."""
    needs: Need | None = None
    why: str = ""
    """What is left to others; required unless it covers everything."""
    levels: Mapping[Minor, Literal["MUST", "SHOULD"]] = Field(default={})
    """Level in the lists of AI conformance, by minor of Kubernetes; empty in benchmarks."""

    @model_validator(mode="after")
    def _is_explained(self) -> Self:
        if self.covers is not Covers.WHOLE and not self.why:
            raise ValueError(f"{', '.join(self.ids)}: say what is left to others")
        if self.covers is Covers.NONE and (self.rests or self.serves or self.declares):
            raise ValueError(f"{', '.join(self.ids)}: evidence for what provisioning does not decide")
        return self

    @property
    def all_ids(self) -> Iterator[str]:
        """Every id."""
        for each in self.ids:
            if found := _RANGE.fullmatch(each):
                yield from (f"{found[1] or ''}{number}" for number in range(int(found[2]), int(found[3]) + 1))
            else:
                yield each


class Standard(BaseModel):
    """A benchmark, or the requirements of AI conformance."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    """Beginning of the ids of its claims."""
    title: str
    source: str
    """Where its ids were read."""
    read: date
    kinds: tuple[ClusterKind, ...]
    rows: tuple[Row, ...]


FILES: Final = ("cis-eks", "cis-aks", "cis-kubernetes", "ai-conformance")
AI: Final = "ai-conformance"


@cache
def standard(name: str) -> Standard:
    """Return a standard by the name of its file."""
    text = (files(__name__) / f"{name}.yaml").read_text(encoding="utf-8")
    return Standard.model_validate(yaml.safe_load(text))


def standard_claims(sight: Sight, known: Mapping[str, Claim]) -> Iterator[Claim]:
    """Yield a claim for each control and requirement.

    Parameters
    ----------
    sight
        The cluster and what its stack demands.
    known
        The claims that they rest on, by id.
    """
    kind, minor = ClusterKind(sight.contract.config.cluster.kind), minor_of(sight.version)
    for found in map(standard, FILES):
        if kind not in found.kinds:
            continue
        begin = f"{found.id}-{minor}" if found.id == AI else found.id
        rows = [row for row in found.rows if found.id != AI or minor in row.levels]
        if not rows:
            yield unverified(begin, f"{found.title} {minor}", "There is no such list.", Covers.NONE)
        for row in rows:
            result, detail, evidence = _judged(row, sight, known)
            for each in row.all_ids:
                yield Claim(
                    id=f"{begin}/{each}",
                    subject=row.about,
                    result=result,
                    covers=row.covers,
                    detail=detail,
                    rests_on=row.rests,
                    evidence=evidence,
                )


def minor_of(version: str) -> str:
    """Return the minor of a version of Kubernetes: 1.36 of v1.36.1-eks-5fdc."""
    found = re.match(r"v?(\d+\.\d+)", version)
    return found[1] if found else version


def _judged(row: Row, sight: Sight, known: Mapping[str, Claim]) -> tuple[Result, str, tuple[Evidence, ...]]:
    """Return the result of a row, its explanation, and its evidence."""
    if missing := _missing(row, sight):
        return Result.NOT_VERIFIED, missing, ()
    claims = [known[each] for each in row.rests if each in known]
    evidence = [each for claim in claims for each in claim.evidence]
    if row.serves:
        served = sorted(sight.served)
        evidence.append(Evidence(source="/apis", digest=digest_of(served), at=sight.snapshot.taken))
        if row.serves not in sight.served:
            return Result.FAILED, f"The API server does not serve {row.serves}.", tuple(evidence)
    results = {claim.id: claim.result for claim in claims}
    unknown = [each for each in row.rests if results.get(each, Result.NOT_VERIFIED) is Result.NOT_VERIFIED]
    failed = [each for each, result in results.items() if result is Result.FAILED]
    if failed:
        return Result.FAILED, f"Failed: {', '.join(failed)}.", tuple(evidence)
    if unknown:
        return Result.NOT_VERIFIED, f"Not verified: {', '.join(unknown)}.", tuple(evidence)
    if not evidence:
        return Result.NOT_VERIFIED, row.why, ()
    return Result.PASSED, row.why, tuple(evidence)


def _missing(row: Row, sight: Sight) -> str:
    """Return what the stack lacks, so that the row says nothing of it; empty if it lacks nothing."""
    if row.needs:
        has, why = _NEEDS[row.needs]
        if not has(sight):
            return why
    declared = {f"{kind}/{name}" for kind, _, name in sight.contract.declared}
    return f"The stack declares no {row.declares}." if row.declares and row.declares not in declared else ""
