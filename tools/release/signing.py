"""Signatures by SSH keys, as Git makes them of tags: ``ssh-keygen -Y``, which every machine with Git has."""

import os
import subprocess
from pathlib import Path
from typing import Final

from infra.config.problems import shown
from workbench.system.errors import UserError
from workbench.system.git import git
from workbench.system.paths import PROJECT_ROOT

NAMESPACE: Final = "igz-clusters-release"
"""What a signature is for: one that was made for something else is refused."""

SIGNERS: Final = PROJECT_ROOT / ".github" / "allowed_signers"
"""Who may sign a release, a line each: see ALLOWED SIGNERS in the manual of ssh-keygen."""

_LINE: Final = f'`EMAIL namespaces="{NAMESPACE}" ssh-ed25519 KEY`'
_NAME_IT: Final = "Name the file of an SSH key with --key FILE (`make release KEY=FILE`)"


def sign(file: Path, key: Path | None, signers: Path) -> Path:
    """Sign a file and return its signature ``FILE.sig``, which was verified.

    Parameters
    ----------
    file
        The file.
    key
        Private key, or the public key of one in the SSH agent. Default: Git's ``user.signingKey``.
    signers
        The file of allowed signers.

    Raises
    ------
    UserError
        There is no key, it cannot sign, or it is not one of an allowed signer.
    """
    chosen = key_file(key)
    signature = file.with_name(f"{file.name}.sig")
    signature.unlink(missing_ok=True)
    _run(
        ["-Y", "sign", "-f", str(chosen), "-n", NAMESPACE, str(file)], f"{file.name} could not be signed with {chosen}"
    )
    try:
        verify(file, signature, signers)
    except UserError:
        signature.unlink()
        raise
    return signature


def verify(file: Path, signature: Path, signers: Path) -> str:
    """Return who signed a file.

    Raises
    ------
    UserError
        The signature is not that of an allowed signer, or the file is not what was signed.
    """
    require_signers(signers)
    options = ["-s", str(signature), "-f", str(signers)]
    found = _run(["-Y", "find-principals", *options], f"the key of {signature.name} is not in {signers}, as {_LINE}")
    signer = found.splitlines()[0]
    check = ["-Y", "verify", *options, "-n", NAMESPACE, "-I", signer]
    _run(check, f"{signature.name} is not a signature of {file.name}", file.read_bytes())
    return signer


def require_signers(signers: Path) -> None:
    """Raise ``UserError`` if there is no file of allowed signers."""
    if not signers.is_file():
        raise UserError(f"{signers} is missing: it names who may sign.", f"A line for each of them: {_LINE}.")


def key_file(chosen: Path | None) -> Path:
    """Return the file of the key to sign with.

    Parameters
    ----------
    chosen
        The file that the user named. Default: Git's ``user.signingKey``, which may also be a key itself.

    Raises
    ------
    UserError
        There is no key, or it is not a file.
    """
    given = str(chosen or git(PROJECT_ROOT, "config", "user.signingKey") or "")
    if not given:
        raise UserError("There is no key to sign with.", f"{_NAME_IT}, or set Git's user.signingKey to its file.")
    file = Path(given).expanduser()
    if not any(os.path.isfile(each) for each in (file, f"{file}.pub")):  # noqa: PTH113 Path.is_file refuses the length of some keys
        source = "--key" if chosen else "Git's user.signingKey"
        raise UserError(
            f"{source}: {shown(given)} is not the file of an SSH key.",
            f"{_NAME_IT}. The file of its public key is enough if the private one is in an SSH agent.",
        )
    return file


def _run(arguments: list[str], failure: str, content: bytes = b"") -> str:
    try:
        run = subprocess.run(["ssh-keygen", *arguments], input=content, capture_output=True, check=False)
    except FileNotFoundError:
        raise UserError("ssh-keygen is not installed.", "Install OpenSSH 8.2 or newer.") from None
    if run.returncode:
        raise UserError(f"{failure}: {run.stderr.decode(errors='replace').strip()}")
    return run.stdout.decode()
