"""Checks a machine before a build; reports all missing prerequisites at once."""

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from workbench.system.errors import UserError
from workbench.system.paths import cache_dir, data_dir, unusable
from workbench.toolchain import store

GIB = 2**30


@dataclass(frozen=True)
class Problem:
    """One missing prerequisite, and how to provide it."""

    message: str
    hint: str


def unwritable() -> list[Problem]:
    """Return a problem for each of our folders that is not writable."""
    folders: tuple[tuple[Callable[[], Path], str], ...] = (
        (cache_dir, "IGZ_CLUSTERS_CACHE"),
        (data_dir, "IGZ_CLUSTERS_DATA"),
    )
    problems = []
    for folder, variable in folders:
        try:
            tempfile.TemporaryFile(dir=folder()).close()
        except UserError as error:
            problems.append(Problem(error.message, error.hint))
        except OSError as error:
            failure = unusable(error, variable)
            problems.append(Problem(failure.message, failure.hint))
    return problems


def check(entries: Sequence[store.Entry], problems: Sequence[Problem] = ()) -> str:
    """Check Go, its settings and the disk; return Go's version, such as ``go1.26.8``.

    Parameters
    ----------
    entries
        The bundles to build.
    problems
        Problems found earlier; reported together with the rest.

    Raises
    ------
    UserError
        Lists every problem with its hint.
    """
    settings = _go_settings()
    every = list(problems)
    if settings:
        every += _version_problems(settings["GOVERSION"], entries)
        every += _verification_problems(settings, entries)
    else:
        hint = (
            f"Install Go {_text(_required(entries))} or newer, or copy the toolchain cache from a machine that has it."
        )
        every.append(Problem("Go is not on PATH; it builds the engine and the local cluster.", hint))
    if not problems:  # free space of an unwritable folder is irrelevant
        every += _space_problems(entries, Path(settings.get("GOMODCACHE") or Path.home()))
    if every:
        listed = "\n".join(f"- {problem.message}\n  {problem.hint}" for problem in every)
        raise UserError(f"The toolchain cannot be built on this machine:\n{listed}")
    return settings["GOVERSION"]


def _go_settings() -> dict[str, str]:
    if not shutil.which("go"):
        return {}
    names = ["GOVERSION", "GOMODCACHE", "GOFLAGS", "GOSUMDB", "GONOSUMDB", "GOINSECURE"]
    # Run outside any module: the local Go fails inside a module that requires a newer one.
    run = subprocess.run(
        ["go", "env", "-json", *names],
        cwd=tempfile.gettempdir(),
        env=os.environ | {"GOTOOLCHAIN": "local"},
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode:
        raise UserError(f"`go env` failed: {run.stderr.strip()}", "Repair the Go installation that is first on PATH.")
    settings: dict[str, str] = json.loads(run.stdout)
    return settings


def _numbers(version: str) -> tuple[int, ...]:
    match = re.search(r"\d+(\.\d+)*", version)
    return tuple(int(number) for number in match[0].split(".")) if match else ()


def _text(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


def _required(entries: Sequence[store.Entry]) -> tuple[int, ...]:
    files = (entry.sources / module / "go.mod" for entry in entries for module in entry.bundle.modules)
    return max(_numbers(re.findall(r"^go .*", file.read_text(), re.MULTILINE)[0]) for file in files)


def _version_problems(version: str, entries: Sequence[store.Entry]) -> list[Problem]:
    required = _required(entries)
    if _numbers(version) >= required:
        return []
    message = f"Go on PATH ({shutil.which('go')}) is {version}, the pinned modules need {_text(required)} or newer."
    return [Problem(message, "Put a newer Go first on PATH.")]


def _verification_problems(settings: dict[str, str], entries: Sequence[store.Entry]) -> list[Problem]:
    off = []
    if settings["GOSUMDB"] == "off":
        off.append("GOSUMDB=off")
    if "-insecure" in settings["GOFLAGS"]:
        off.append(f"GOFLAGS={settings['GOFLAGS']}")
    modules = {artifact.package for entry in entries for artifact in entry.bundle.artifacts}
    settings = settings | {"GONOSUMCHECK": os.environ.get("GONOSUMCHECK", "")}
    for name in ("GONOSUMDB", "GOINSECURE", "GONOSUMCHECK"):
        patterns = settings[name].split(",")
        if any(_covers(pattern, module) for pattern in patterns for module in modules):
            off.append(f"{name}={settings[name]}")
    hint = "Unset it (`go env -u NAME`), or limit it to your own modules."
    return [Problem(f"{setting} disables the verification of the pinned modules.", hint) for setting in off]


def _covers(pattern: str, module: str) -> bool:
    """Return whether a glob matches a prefix of the module path, element by element as in Go."""
    elements = pattern.count("/") + 1
    return fnmatchcase("/".join(module.split("/")[:elements]), pattern)


def _space_problems(entries: Sequence[store.Entry], module_cache: Path) -> list[Problem]:
    scratch = sum(entry.bundle.scratch_gib for entry in entries) * GIB - store.disk_usage(store.go_cache())
    download = sum(entry.bundle.download_gib for entry in entries) * GIB
    needs: dict[int, float] = defaultdict(float)
    folders: dict[int, Path] = {}
    for folder, need in ((cache_dir(), max(scratch, 0)), (_existing(module_cache), download)):
        device = folder.stat().st_dev
        needs[device] += need
        folders.setdefault(device, folder)
    return [
        Problem(
            f"{folders[device]} has {free / GIB:.1f} GiB free, the build takes up to {need / GIB:.1f} GiB.",
            "Free some space, or set IGZ_CLUSTERS_CACHE and GOMODCACHE to folders on a larger disk.",
        )
        for device, need in needs.items()
        if (free := shutil.disk_usage(folders[device]).free) < need
    ]


def _existing(folder: Path) -> Path:
    return next(parent for parent in (folder, *folder.parents) if parent.exists())
