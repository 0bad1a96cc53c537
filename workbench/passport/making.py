"""Creates passports from findings, and reads them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError

from components.contract.digests import canonical, digest_of
from components.contract.environments import ClusterKind
from infra.config.effective import SETTINGS_DIGEST
from workbench.engine.pool_status import declared_groups
from workbench.passport.claims import contract_claims, rule_claims
from workbench.passport.envelope import opened
from workbench.passport.evidence_files import acceptance_claims, rehearsal_claims, restore_claim
from workbench.passport.fingerprint import deviations, fingerprints
from workbench.passport.keys import PublicKey
from workbench.passport.model import (
    PREDICATE_TYPE,
    SCHEMA_VERSION,
    Claim,
    ClusterIdentity,
    Package,
    Passport,
    StackIdentity,
    Statement,
    Subject,
)
from workbench.passport.origin import Origin
from workbench.passport.reading import Sight
from workbench.passport.standards import standard_claims
from workbench.report import pools
from workbench.report.events import STACK_TYPE
from workbench.stacks import Stack, shown_path
from workbench.system.errors import UserError
from workbench.system.paths import APP
from workbench.verification.contract import Contract
from workbench.verification.deviation import Verification

if TYPE_CHECKING:  # it loads Pulumi's SDK, which most commands do without
    from workbench.engine.check import Checked

SIZE_MAX: Final = 50_000_000
"""Bytes of the largest passport that is read; one of 1,000 objects has about 3 MB."""

CLOCKS_DIFFER: Final = timedelta(minutes=5)
"""How far the clocks of two machines may be apart."""


@dataclass(frozen=True, kw_only=True)
class Findings:
    """The findings that a passport records.

    Parameters
    ----------
    stack, origin
        The stack, and its version and that of the package.
    sight, verification, checked
        The cluster, and the results of ``verify`` and ``check``.
    rehearsal, acceptance, backups
        Files with further evidence. Default: none.
    """

    stack: Stack
    origin: Origin
    sight: Sight
    verification: Verification
    checked: "Checked"
    rehearsal: Path | None = None
    acceptance: Path | None = None
    backups: Path | None = None


def require_applied(stack: Stack, contract: Contract) -> None:
    """Check that `up` last ran with the current settings: of the stack file, its base and this release's defaults.

    Raises
    ------
    UserError
        It ran with other settings, or with a release that did not record them.
    """
    recorded = _outputs(contract.deployment).get(SETTINGS_DIGEST)
    if recorded is None:
        raise UserError(
            f"The last `up` of '{stack.name}' was that of a release that did not record its settings.",
            f"Run `igz-clusters up {stack.name}` first.",
        )
    if recorded != stack.digest or pools.differences(contract.recorded, declared_groups(stack.config)):
        files = " or ".join(map(shown_path, stack.files))
        raise UserError(
            f"`up` last ran with other settings of '{stack.name}': {files} was changed since, or a release of this "
            "package with other defaults was installed.",
            f"`igz-clusters preview {stack.name}` shows what that changes; run `igz-clusters up {stack.name}` first.",
        )


def made(found: Findings, now: datetime, valid: timedelta) -> Passport:
    """Return the passport.

    Parameters
    ----------
    found
        What is known.
    now, valid
        When it is made, and how long it is valid.

    Raises
    ------
    UserError
        A file with evidence cannot be read, or is about another stack file or release.
    """
    stack, sight, origin = found.stack, found.sight, found.origin
    return Passport(
        schema_version=SCHEMA_VERSION,
        package=Package(name=APP, version=origin.version, commit=origin.package),
        stack=StackIdentity(
            name=stack.name,
            kind=stack.config.cluster.kind,
            environment=stack.config.environment.value,
            digest=stack.digest,
            commit=origin.stack,
        ),
        cluster=ClusterIdentity(uid=sight.uid, version=sight.version, resource=_resource(sight.contract.deployment)),
        is_clean=not origin.unclean,
        made=now,
        expires=now + valid,
        claims=_claims(found, now),
        deviations=deviations(found.verification),
        objects=fingerprints(sight),
    )


def _claims(found: Findings, now: datetime) -> tuple[Claim, ...]:
    config, release = found.stack.config, found.origin.version
    own = (
        *contract_claims(found.verification, found.sight.snapshot.taken),
        *rule_claims(found.checked, ClusterKind(config.cluster.kind), config.environment, now),
        *rehearsal_claims(found.rehearsal, found.stack, release),
        *acceptance_claims(found.acceptance, found.stack, release),
        restore_claim(found.backups, found.stack, release),
    )
    return (*own, *standard_claims(found.sight, {claim.id: claim for claim in own}))


def _resource(deployment: Mapping[str, Any]) -> str:
    """Return the id of the cluster in its cloud, as the state records it; empty if it has none."""
    facts = _outputs(deployment).get("cluster") or {}
    return str(facts.get("clusterArn") or facts.get("clusterId") or "")


def _outputs(deployment: Mapping[str, Any]) -> Mapping[str, Any]:
    found = (each.get("outputs") or {} for each in deployment.get("resources") or () if each["type"] == STACK_TYPE)
    return next(found, {})


def require_recent(passport: Passport, max_age: timedelta) -> None:
    """Check that all evidence was found at most ``max_age`` before the passport was made.

    Raises
    ------
    UserError
        Some evidence is older, is dated after the passport, or does not say when it was found.
    """
    found = {(each.source, each.at) for claim in passport.claims for each in claim.evidence}
    times = {
        source: f"is dated {at.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if at else "does not say when it was written"
        for source, at in found
        if at is None or not -CLOCKS_DIFFER <= passport.made - at <= max_age
    }
    if times:
        old = "\n".join(f"--max-age: {source} {said}." for source, said in sorted(times.items()))
        raise UserError(old, f"At most {max_age.days} days are allowed: rehearse, accept or restore again.")


def payload(passport: Passport) -> bytes:
    """Return the statement that is signed. Its subjects are the stack file and the cluster, by their digests."""
    whole = digest_of(sorted((each.kind, each.namespace, each.name, each.digest) for each in passport.objects))
    statement = Statement(
        subject=(
            Subject(name=f"stack {passport.stack.name}", digest={"sha256": passport.stack.digest}),
            Subject(name=f"cluster {passport.cluster.uid}", digest={"sha256": whole}),
        ),
        predicate_type=PREDICATE_TYPE,
        predicate=passport,
    )
    return canonical(statement.model_dump(mode="json", by_alias=True))


def read(file: Path, key: PublicKey) -> Passport:
    """Return the passport in a file, after verifying its signature with a key.

    Raises
    ------
    UserError
        It cannot be read, is not signed by the key, or is not a passport that this release knows.
    """
    try:
        if file.stat().st_size > SIZE_MAX:
            raise UserError(f"{file} is larger than {SIZE_MAX // 1_000_000} MB: it is not a passport.")
        content = file.read_bytes()
    except OSError as error:
        raise UserError(f"{file} cannot be read: {error.strerror}.") from None
    try:
        verified = opened(content, key)
    except UserError as error:
        raise UserError(f"{file}: refused. {error.message}", error.hint) from None
    try:
        statement = Statement.model_validate_json(verified)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "all of it"
        raise UserError(f"{file}: refused. It is not a passport of a known form: {where}: {first['msg']}.") from None
    if statement.predicate_type != PREDICATE_TYPE:
        raise UserError(f"{file}: refused. It is not a passport: its type is '{statement.predicate_type}'.")
    return statement.predicate


def require_current(passport: Passport, now: datetime) -> None:
    """Check that a passport has not expired.

    Raises
    ------
    UserError
        It has expired, or its date is in the future.
    """
    if now >= passport.expires:
        hint = f"Make a new one: igz-clusters passport make {passport.stack.name}"
        raise UserError(f"The passport expired on {passport.expires:%Y-%m-%d %H:%M} UTC.", hint)
    if passport.made > now + CLOCKS_DIFFER:
        dated = f"{passport.made:%Y-%m-%d %H:%M} UTC"
        raise UserError(f"The passport is dated {dated}, which is in the future.", "Check the clock.")
