"""Shape of a passport as JSON, from which ``docs/passport.schema.json`` is generated.

``python -m workbench.passport.model --write`` renews the schema. Fields may be added; removing or redefining one raises
``schemaVersion``.
"""

import json
import sys
from enum import StrEnum
from typing import Annotated, Any, Final, Literal, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints, model_validator
from pydantic.alias_generators import to_camel

from components.contract.digests import digest_of
from components.contract.labels import OWN_DOMAIN
from workbench.system.paths import PROJECT_ROOT

SCHEMA_VERSION: Final = 1
SCHEMA: Final = PROJECT_ROOT / "docs" / "passport.schema.json"

STATEMENT_TYPE: Final = "https://in-toto.io/Statement/v1"
"""in-toto/attestation 051624ce, ``spec/v1/statement.md``."""

PREDICATE_TYPE: Final = f"https://{OWN_DOMAIN}/passport/v{SCHEMA_VERSION}"

Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class Result(StrEnum):
    """What is known of a claim."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_VERIFIED = "not-verified"
    """There is no evidence."""


class Covers(StrEnum):
    """How much of a control or requirement the claim is about."""

    WHOLE = "whole"
    PART = "part"
    """What provisioning decides; others decide the rest."""
    NONE = "none"
    """Provisioning does not decide it."""


class _Shape(BaseModel):
    model_config = ConfigDict(
        frozen=True,
        alias_generator=to_camel,
        populate_by_name=True,
        allow_inf_nan=False,
        use_attribute_docstrings=True,
    )


class Evidence(_Shape):
    """What a result was read from."""

    source: str
    """The command or the file."""
    digest: Sha256
    """Of the canonical JSON of what the command found, or of the file."""
    at: AwareDatetime | None
    """When it was found; null if the file does not say."""


class Claim(_Shape):
    """One statement about the cluster."""

    id: str
    """Stable, such as `contract/node-labels`, `rule/NG-07` or `cis-eks-1.8/5.3.1`."""
    subject: str
    """What is claimed, as a sentence."""
    result: Result
    covers: Covers
    """How much of the control or requirement this is; `whole` for checks and rules of this package."""
    detail: str
    """What was found, or why it is not verified; may be empty."""
    rests_on: tuple[str, ...]
    """Ids of the claims that it follows from; may be empty."""
    evidence: tuple[Evidence, ...]

    @model_validator(mode="after")
    def _has_evidence(self) -> Self:
        if self.result is not Result.NOT_VERIFIED and not self.evidence:
            raise ValueError("a claim without evidence must be not-verified")
        return self


def unverified(id_: str, subject: str, why: str, covers: Covers = Covers.WHOLE) -> Claim:
    """Return a claim without evidence, and why there is none."""
    return Claim(
        id=id_,
        subject=subject,
        result=Result.NOT_VERIFIED,
        covers=covers,
        detail=why,
        rests_on=(),
        evidence=(),
    )


class Package(_Shape):
    """The package that made the passport."""

    name: str
    version: str
    commit: str | None
    """Its Git commit; null if it is not known, as of a wheel."""


class StackIdentity(_Shape):
    """The stack."""

    name: str
    kind: str
    environment: str
    digest: Sha256
    """Of its settings with all defaults."""
    commit: str | None
    """Git commit of its file; null if it is in none."""


class ClusterIdentity(_Shape):
    """The cluster."""

    uid: str
    """UID of the namespace kube-system, which a cluster keeps as long as it exists."""
    version: str
    """Version of the API server."""
    resource: str
    """ARN or resource id in the cloud; may be empty."""


class Fingerprint(_Shape):
    """An object of the cluster as it was."""

    kind: str
    namespace: str
    """Empty if it is in none."""
    name: str
    digest: Sha256
    """Of the canonical JSON of its fields."""
    fields: dict[str, Any]
    """Fields that do not change by themselves. Values of ConfigMaps and environment variables are digests."""

    @model_validator(mode="after")
    def _has_its_digest(self) -> Self:
        if digest_of(self.fields) != self.digest:
            raise ValueError(f"the digest of {self.kind} {self.name} is not that of its fields")
        return self


class Deviation(_Shape):
    """Something that differed from the contract already."""

    check: str
    """Check of `igz-clusters verify`."""
    where: str
    problem: str


class Passport(_Shape):
    """What was verified of a cluster at a commit."""

    schema_version: Literal[1]
    package: Package
    stack: StackIdentity
    cluster: ClusterIdentity
    is_clean: bool
    """Whether package and stack file were exactly those of their commits."""
    made: AwareDatetime
    expires: AwareDatetime
    claims: tuple[Claim, ...]
    deviations: tuple[Deviation, ...]
    objects: tuple[Fingerprint, ...]
    """What the cluster is compared with later."""

    def of(self, result: Result) -> tuple[Claim, ...]:
        """Return the claims with a result."""
        return tuple(claim for claim in self.claims if claim.result is result)

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        return self.model_dump(mode="json", by_alias=True)


class Subject(_Shape):
    """What the statement is about, by its digest."""

    name: str
    digest: dict[str, str]


class Statement(_Shape):
    """A passport as a statement of in-toto."""

    type: Annotated[Literal["https://in-toto.io/Statement/v1"], Field(alias="_type")] = STATEMENT_TYPE
    subject: tuple[Subject, ...]
    predicate_type: str
    predicate: Passport


def schema() -> str:
    """Return the JSON schema of passports."""
    shape = Passport.model_json_schema(mode="serialization")
    return json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", **shape}, indent=2) + "\n"


def main() -> None:
    """Write the schema to its file."""
    SCHEMA.write_text(schema(), encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: python -m workbench.passport.model --write")
    main()
