"""What a wheel holds. The build backend runs this file, so it imports nothing of this package.

A wheel is a checkout in the folder ``igz_clusters`` of site-packages. Two things differ: a ``.pth`` file puts that
folder on the import path, as the editable install does with a checkout, and the project files name the environment
that the wheel is in, instead of the checkout's own ``.venv``.
"""

import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from typing_extensions import override

FOLDER: Final = "igz_clusters"
PATH_FILE: Final = "igz-clusters.pth"
"""``workbench.system.installation`` knows an installed wheel by it."""

CONTENTS: Final = (
    ".github", "CHANGELOG.md", "Pulumi.dev.yaml", "Pulumi.local.yaml", "Pulumi.prod.yaml", "components", "docs",
    "examples", "infra", "policies", "requirements.txt", "toolchain", "workbench",
)  # fmt: skip
"""Files and folders of the checkout that a wheel holds: all that a command reads, and what its messages name."""

PROJECT_FILES: Final = ("Pulumi.yaml", "infra/package/PulumiPlugin.yaml", "policies/packs/*/PulumiPolicy.yaml")

ENVIRONMENT: Final = "../../../.."
"""From the folder to its environment: every environment has it in ``lib/pythonX.Y/site-packages/igz_clusters``."""

_OWN: Final = re.compile(r"^(\s+virtualenv: (?:\.\./)*)\.venv$", re.MULTILINE)


def files(checkout: Path) -> dict[str, str]:
    """Return the content of the files that the checkout lacks or has otherwise, by their place in the wheel.

    Raises
    ------
    ValueError
        A project file names no environment.
    """
    found = {PATH_FILE: f"{FOLDER}\n"}
    for project in (file for pattern in PROJECT_FILES for file in sorted(checkout.glob(pattern))):
        text, count = _OWN.subn(rf"\g<1>{ENVIRONMENT}", project.read_text(encoding="utf-8"))
        if count != 1:
            raise ValueError(
                f"{project} must have one line `virtualenv: .venv`, with the way to the checkout before it"
            )
        found[f"{FOLDER}/{project.relative_to(checkout).as_posix()}"] = text
    return found


class InstalledLayout(BuildHookInterface):  # type: ignore[type-arg] # of a configuration that this hook does not read
    """Fills a wheel; an editable install is the checkout itself."""

    @override
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        root = Path(self.root)
        build_data["force_include"].update({str(root / name): f"{FOLDER}/{name}" for name in CONTENTS})
        self._place = TemporaryDirectory()
        for number, (name, text) in enumerate(files(root).items()):
            source = Path(self._place.name, str(number))
            source.write_text(text, encoding="utf-8")
            build_data["force_include"][str(source)] = name

    @override
    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if version != "editable":
            self._place.cleanup()
