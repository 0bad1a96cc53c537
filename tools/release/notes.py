"""The notes of a release: its section of the changelog, and how to check what was downloaded."""

from pathlib import Path
from typing import Final

from tools.release import changelog
from tools.release.checks import Release
from tools.release.signing import NAMESPACE
from workbench.system.errors import UserError
from workbench.system.paths import PROJECT_ROOT

SUMS: Final = "SHA256SUMS"

_TEMPLATE: Final = """\
# igz-clusters {version}

Commit {commit}. Links lead to files of the repository at the tag `{tag}`; `docs/upgrading.md` has the steps.

{text}

## Verify
`{sums}` has the hash of every file here, and `{sums}.sig` is its signature. `allowed_signers` is
`.github/allowed_signers` of a commit that you trust, not of this release.

```
ssh-keygen -Y find-principals -f allowed_signers -s {sums}.sig
ssh-keygen -Y verify -f allowed_signers -I SIGNER -n {namespace} -s {sums}.sig < {sums}
sha256sum --check {sums}
```

`make release DRY_RUN=1` in a clean checkout of the tag builds the same files again and prints their hashes.
"""


def document(release: Release, root: Path = PROJECT_ROOT) -> str:
    """Return the notes; without a section for the version, that of what is unreleased."""
    found = changelog.sections((root / "CHANGELOG.md").read_text(encoding="utf-8"))
    section = found.get(release.version) or found.get(changelog.UNRELEASED)
    if not section:
        raise UserError(f"CHANGELOG.md has no section `[{release.version}]` and none `[{changelog.UNRELEASED}]`.")
    return _TEMPLATE.format(
        version=release.version,
        commit=release.commit,
        tag=release.tag,
        text=section.text,
        sums=SUMS,
        namespace=NAMESPACE,
    )
