"""`igz-clusters passport`: what was verified of a cluster at a commit, signed."""

import json
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Final

import typer

from infra.config.problems import printable
from workbench import stacks
from workbench.cli.access import Access, access
from workbench.cli.console import PLAIN, errors, out
from workbench.cli.options import AsJson, Hermetic, StackName
from workbench.cli.status import status_of
from workbench.cli.verdicts import errors_are_no_verdict
from workbench.engine.clouds.find import cloud_of
from workbench.engine.pool_status import Condition
from workbench.passport import keys, making
from workbench.passport.comparison import Difference, compare
from workbench.passport.envelope import signed
from workbench.passport.model import Passport, Result
from workbench.passport.origin import origin_of
from workbench.passport.page import headline, render
from workbench.passport.reading import Sight
from workbench.passport.reading import read as read_cluster
from workbench.stacks import Stack
from workbench.system.errors import UserError
from workbench.system.files import write_private
from workbench.system.paths import APP
from workbench.verification.contract import Contract
from workbench.verification.verify import verify as verify_cluster

app = typer.Typer(help="Sign what was verified of a cluster; compare the cluster with it later.", no_args_is_help=True)

_DAYS: Final = 30
"""Days for which a passport is valid by default."""

_LINE_MAX: Final = 2_000

PassportFile = Annotated[Path, typer.Argument(help="The passport.", metavar="FILE", show_default=False)]
PublicKeyFile = Annotated[
    Path,
    typer.Option(
        "--public-key",
        metavar="FILE",
        show_default=False,
        help="The maker's public key as PEM, which you got from the maker and not with the passport.",
    ),
]
PageFile = Annotated[
    Path | None,
    typer.Option("--page", metavar="FILE", dir_okay=False, help="Also write a page for people to FILE."),
]

PrivateKey = Annotated[
    Path | None,
    typer.Option("--key", metavar="FILE", help="Private key. Default: the one of `igz-clusters passport key`."),
]
Rehearsal = Annotated[
    Path | None, typer.Option(metavar="FILE", help="JSON of `igz-clusters rehearse STACK --json`, as evidence.")
]
Acceptance = Annotated[
    Path | None, typer.Option(metavar="FILE", help="record.json of `igz-clusters accept STACK`, as evidence.")
]
Backups = Annotated[
    Path | None, typer.Option(metavar="FILE", help="JSON of `igz-clusters backup list STACK --json`, as evidence.")
]
MaxAge = Annotated[
    int | None, typer.Option(metavar="DAYS", min=1, help="Refuse older evidence in files. Default: any age.")
]


@app.command()
def make(  # noqa: PLR0913 one parameter for each option
    stack: StackName,
    *,
    output: Annotated[
        Path, typer.Option("--output", metavar="FILE", dir_okay=False, help="File of the passport.")
    ] = Path("passport.json"),
    page: PageFile = None,
    key: PrivateKey = None,
    unsigned: Annotated[
        bool, typer.Option("--unsigned", help="Write the statement without a signature, for a signer of your own.")
    ] = False,
    rehearsal: Rehearsal = None,
    acceptance: Acceptance = None,
    backups: Backups = None,
    max_age: MaxAge = None,
    days: Annotated[int, typer.Option(min=1, max=366, help="Days for which it is valid.")] = _DAYS,
    allow_dirty: Annotated[
        bool, typer.Option("--allow-dirty", help="Allow changes that are not committed; the passport says so.")
    ] = False,
    hermetic: Hermetic = False,
) -> None:
    """Write what was verified of a stack's cluster, signed.

    For example: igz-clusters passport make dev --page passport.html

    Reads the cluster like `verify` and the stack file like `check`. A claim has passed, has failed, or is not verified;
    without evidence it never passes. Exit code 0: it was written, whatever it says; 1: it was refused; 3: the cluster
    could not be read. docs/passport.md explains the claims.
    """
    if unsigned and key:
        raise UserError("--unsigned and --key cannot be combined.", "Leave one of them out.")
    signed_with = _key_file(key)
    public_key = signed_with.with_suffix(keys.PUBLIC)
    _require_apart((output, page), (signed_with, public_key, rehearsal, acceptance, backups))
    found = stacks.find(stack)
    origin = origin_of(found)
    origin.required(allow_dirty=allow_dirty)
    signer = None if unsigned else keys.private_key(signed_with)
    sight = _sight(found, hermetic=hermetic)
    making.require_applied(found, sight.contract)
    from workbench.engine.check import check  # noqa: PLC0415 - it loads Pulumi's SDK, which the others do without

    findings = making.Findings(
        stack=found,
        origin=origin,
        sight=sight,
        verification=verify_cluster(sight.contract, sight.snapshot),
        checked=check(found),
        rehearsal=rehearsal,
        acceptance=acceptance,
        backups=backups,
    )
    passport = making.made(findings, datetime.now(UTC).replace(microsecond=0), timedelta(days=days))
    if max_age:
        making.require_recent(passport, timedelta(days=max_age))
    payload = making.payload(passport)
    _write("--output", output, signed(payload, signer) if signer else payload.decode())
    _show(passport)
    _write_page(page, passport)


@app.command()
def show(file: PassportFile, *, public_key: PublicKeyFile, page: PageFile = None, as_json: AsJson = False) -> None:
    """Check a passport's signature and show its claims.

    Needs no cluster and no stack file.

    Exit code 1: the signature is not of this key, the passport was changed, or it has expired.
    """
    _require_apart((page,), (file, public_key))
    passport = _trusted(file, public_key)
    if as_json:
        out.print_json(json.dumps(passport.as_json()), ensure_ascii=True)
    else:
        _show(passport)
    _write_page(page, passport)


@app.command()
def verify(
    stack: StackName,
    file: PassportFile,
    *,
    public_key: PublicKeyFile,
    as_json: AsJson = False,
    hermetic: Hermetic = False,
) -> None:
    """Compare a running cluster with its passport.

    Checks signature and expiry, then names everything that changed since: objects and their fields, and what differs
    from the contract now. Reads only, and no Secrets. Exit code 0: nothing changed, 1: something did, or the passport
    is refused, 3: the cluster could not be read.
    """
    passport = _trusted(file, public_key)
    with errors_are_no_verdict():
        found = stacks.find(stack)
    if passport.stack.name != found.name:
        raise UserError(f"{file} is the passport of '{passport.stack.name}', not of '{found.name}'.")
    if passport.package.version != (own := version(APP)):
        note = f"note: the passport is of release {passport.package.version}, and this is {own}."
        errors.print(printable(note, _LINE_MAX), **PLAIN)
    sight = _sight(found, hermetic=hermetic)
    differences = (
        *_of_stack(passport, found),
        *compare(passport, sight, verify_cluster(sight.contract, sight.snapshot)),
    )
    if as_json:
        result = {
            "stack": found.name,
            "result": "differs" if differences else "equal",
            "made": passport.made.isoformat(),
            "isClean": passport.is_clean,
        }
        out.print_json(
            json.dumps({**result, "differences": [each.as_json() for each in differences]}), ensure_ascii=True
        )
    else:
        _show_differences(passport, differences)
    raise typer.Exit(1 if differences else 0)


@app.command("key")
def create_key(
    *,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", metavar="FILE", dir_okay=False, help="File of the private key. Default: one in the data folder."
        ),
    ] = None,
) -> None:
    """Create a key that signs passports, and print its public key.

    Ed25519, as PEM, readable by you only. If the variable IGZ_CLUSTERS_PASSPORT_PASSPHRASE is set, the key is encrypted
    with it, and `make` needs it. The public key is written next to the private one: give it
    to those who verify.
    """
    file = output or keys.default_file()
    public = keys.create(file)
    errors.print(f"Private key: {file}\nPublic key: {file.with_suffix(keys.PUBLIC)}", **PLAIN)
    out.print(public, end="", **PLAIN)


def _key_file(given: Path | None) -> Path:
    file = keys.default_file() if given is None else given
    if not file.name:
        raise UserError(f"--key: {str(file)!r} does not name a file.", "Name the file with the private key.")
    return file


def _trusted(file: Path, public_key: Path) -> Passport:
    passport = making.read(file, keys.public_key(public_key))
    making.require_current(passport, datetime.now(UTC))
    return passport


def _sight(stack: Stack, *, hermetic: bool) -> Sight:
    """Read the cluster of a stack; raises ``NoVerdictError`` if it cannot be read, or sleeps."""
    with errors_are_no_verdict():
        entered = access(stack, hermetic=hermetic)
        api = entered.required(stack)
        _require_awake(stack, entered, hermetic=hermetic)
        with errors.status(f"reading the cluster of '{stack.name}'"):
            return read_cluster(api, Contract(stack.name, stack.config, entered.deployment))


def _require_awake(stack: Stack, entered: Access, *, hermetic: bool) -> None:
    """Refuse a cluster that has no nodes outside of its office hours: most claims are about nodes."""
    if cloud_of(stack.name, stack.config).hours:
        status = status_of(stack, hermetic=hermetic, entered=entered)
        if status.condition is Condition.ASLEEP:
            raise UserError(f"The cluster of '{stack.name}' is asleep.", status.note)


def _of_stack(passport: Passport, stack: Stack) -> tuple[Difference, ...]:
    if passport.stack.digest == stack.digest:
        return ()
    then = f"sha256:{passport.stack.digest[:12]} of commit {passport.stack.commit or 'none'}"
    files = " with ".join(stacks.shown_path(each) for each in stack.files)
    return (Difference(f"{files}, settings", then, f"sha256:{stack.digest[:12]}"),)


def _show(passport: Passport) -> None:
    stack, expires = passport.stack, f"{passport.expires:%Y-%m-%d %H:%M} UTC"
    out.print(printable(f"{stack.name}: {headline(passport)}", _LINE_MAX), style="bold", **PLAIN)
    for claim in passport.of(Result.FAILED):
        _print_lines(f"failed: {claim.id}: {claim.subject}", f"  {claim.detail}")
    commits = f"commit {stack.commit or 'none'}{'' if passport.is_clean else ', plus uncommitted or altered files'}"
    _print_lines(f"{commits}; cluster {passport.cluster.uid}; valid until {expires}")


def _show_differences(passport: Passport, differences: tuple[Difference, ...]) -> None:
    number = len(differences)
    heading = f"{number or 'no'} difference{'' if number == 1 else 's'} since {passport.made:%Y-%m-%d %H:%M} UTC"
    out.print(f"{passport.stack.name}: {heading}", style="bold", **PLAIN)
    if not passport.is_clean:
        errors.print("note: the passport was made of uncommitted or altered files (--allow-dirty).", **PLAIN)
    for each in differences:
        _print_lines(each.where, f"  then: {each.then}", f"  now: {each.now}")


def _print_lines(*lines: str) -> None:
    """Print lines that may quote texts of others in the cluster, or of a passport by another tool."""
    out.print("\n".join(printable(line, _LINE_MAX) for line in lines), **PLAIN)


def _write_page(page: Path | None, passport: Passport) -> None:
    if page:
        _write("--page", page, render(passport))


def _require_apart(written: Iterable[Path | None], kept: Iterable[Path | None]) -> None:
    """Refuse to write over another file of the same command: a key, a passport or evidence would be lost."""
    targets, others = ([each.resolve() for each in files if each] for files in (written, kept))
    if lost := next((each for each in targets if each in others or targets.count(each) > 1), None):
        raise UserError(
            f"{lost} would be overwritten: it is also the passport, the page, a key or evidence of this command.",
            "Name another file with --output or --page.",
        )


def _write(option: str, file: Path, content: str) -> None:
    try:
        write_private(file, content)
    except OSError as error:
        raise UserError(f"{option}: {file} cannot be written: {error.strerror}.", "Name a file in a folder.") from None
    errors.print(f"Written to {file}.", **PLAIN)
