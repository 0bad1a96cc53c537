"""Error messages for failed Go builds."""

import re
from pathlib import Path

from workbench.system.errors import UserError

LINES = 20
"""Lines of Go's output that an error shows."""

_HINTS = {
    r"SECURITY ERROR|checksum mismatch": (
        "A module differs from the published one. Keep verification on and find out what changed "
        "it (a proxy or the module cache; `go clean -modcache` empties the latter)."
    ),
    r"no space left on device": (
        "The disk is full. Free some space and run the command again; finished programs are kept."
    ),
    r"\b[45]\d\d [A-Z]|dial tcp|no such host|connection refused|i/o timeout"
    r"|TLS handshake|proxyconnect|x509|GOPROXY=off": (
        "The Go module proxy did not serve a module. Check `go env GOPROXY` and the network (HTTPS_PROXY); "
        "on a restricted network, set GOPROXY to your mirror or copy the toolchain cache from another machine."
    ),
}
_OTHER = "Run the command again to continue from here; finished programs are kept."


def build_failed(artifact: str, log: Path) -> UserError:
    """Return the error for a failed build, with the end of the log and a hint that fits it.

    Parameters
    ----------
    artifact
        The program that was built.
    log
        File with all of Go's output.
    """
    tail = "\n".join(log.read_text(errors="replace").splitlines()[-LINES:])
    hint = next((text for pattern, text in _HINTS.items() if re.search(pattern, tail)), _OTHER)
    return UserError(f"Building {artifact} failed. Last lines of Go's output:\n{tail}\nFull log: {log}", hint)
