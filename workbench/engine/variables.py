"""The caller's environment variables that runs of the engine get."""

import os
import re
from typing import Final

from workbench.system.errors import UserError

_OPTION: Final = "PULUMI_OPTION_"
_OPTIONS: Final = frozenset(f"{_OPTION}{name}" for name in ("COLOR", "NON_INTERACTIVE", "PARALLEL", "SKIP_PREVIEW"))
"""Options of the engine that change nothing about what a run does. The engine takes every option from a variable:
https://www.pulumi.com/docs/iac/cli/environment-variables/.
"""

_KUBERNETES: Final = "PULUMI_K8S_"
_NUMBERS: Final = {
    f"{_KUBERNETES}CLIENT_BURST": re.compile(r"[+-]?[0-9]+"),
    f"{_KUBERNETES}CLIENT_QPS": re.compile(r"[+-]?[0-9]+(\.[0-9]*)?"),
    f"{_KUBERNETES}CLIENT_TIMEOUT": re.compile(r"[+-]?[0-9]+"),
}
"""Numbers that the Kubernetes plug-in reads, provider/pkg/provider/provider.go of pulumi-kubernetes v4."""
_SWITCHES: Final = frozenset({f"{_KUBERNETES}DELETE_UNREACHABLE", f"{_KUBERNETES}SKIP_UPDATE_UNREACHABLE"})

_PYTHON: Final = frozenset({"PYTHONHOME", "PYTHONINSPECT", "PYTHONOPTIMIZE", "PYTHONSTARTUP", "PYTHONWARNINGS"})
"""Settings of the caller's interpreter that break the engine's language host, program or packs."""


def callers() -> dict[str, str]:
    """Return the caller's variables without those that would change what a run does, or break its programs.

    Options of the engine, switches of the Kubernetes plug-in and settings of Python interpreters are left out, except
    those that only tune a run.

    Raises
    ------
    UserError
        The plug-in could not read a number.
    """
    for name, form in _NUMBERS.items():
        if (value := os.environ.get(name)) and not form.fullmatch(value):
            raise UserError(f"{name} must be a number, but is {value!r}.", f"Correct it, or remove it: unset {name}")
    return {name: value for name, value in os.environ.items() if _is_passed_on(name)}


def _is_passed_on(name: str) -> bool:
    if name.startswith(_OPTION):
        return name in _OPTIONS
    if name.startswith(_KUBERNETES):
        return name in _NUMBERS or name in _SWITCHES
    return name not in _PYTHON
