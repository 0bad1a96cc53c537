"""Lines for Azure's command line, sent as requests of ARM to the emulator."""

import json
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any, Final

import jmespath

from emulators.azure.client import Emulator, Told

ARM: Final = "https://management.azure.com"
VAULT: Final = "azure-native:dataprotection:BackupVault"
SHORT: Final = {"-g": "--resource-group"}


def run_az(azure: Emulator, words: Sequence[str]) -> str:
    """Run what stands after ``az`` on a line and return what it would print.

    Raises
    ------
    LookupError
        Nothing here knows this command, or there is no such vault.
    """
    command = list(takewhile(lambda word: not word.startswith("-"), words))
    rest = [SHORT.get(word, word) for word in words[len(command) :]]
    given = dict(zip(rest[::2], rest[1::2], strict=True))
    query = given.pop("--query", "")
    if command == ["rest"]:
        answer = _answer(_asked(azure, given))
    elif command == ["dataprotection", "job", "list"]:
        answer = _jobs(azure, given["--resource-group"], given["--vault-name"])
    else:
        raise LookupError(f"no test knows how to run `az {' '.join(command)}`")
    answer = jmespath.search(query, answer) if query else answer
    return "" if answer in (None, {}) else json.dumps(answer, indent=2) + "\n"


def _asked(azure: Emulator, given: Mapping[str, str]) -> Told:
    path, _, version = given["--url"].removeprefix(ARM).partition("?api-version=")
    body = json.loads(given["--body"]) if "--body" in given else None
    return azure.ask(given["--method"].upper(), path, version, body)


def _jobs(azure: Emulator, group: str, name: str) -> list[dict[str, Any]]:
    """https://learn.microsoft.com/cli/azure/dataprotection/job#az-dataprotection-job-list."""
    end = f"/resourcegroups/{group}/providers/microsoft.dataprotection/backupvaults/{name}".lower()
    vaults = [id_ for id_ in azure.inventory().get(VAULT, []) if id_.lower().endswith(end)]
    if not vaults:
        raise LookupError(f"there is no vault {name} in {group}")
    found: list[dict[str, Any]] = _answer(azure.ask("GET", f"{vaults[0]}/backupJobs", "2025-01-01"))["value"]
    return found


def _answer(told: Told) -> dict[str, Any]:
    """Return an answer; a refusal ends the line with an error, as ``az`` does."""
    assert not told.code, told
    return told.body
