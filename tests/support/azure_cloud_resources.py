"""Runs our program against an ARM emulator: each resource that it declares is really made, with its tags and names."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from components.contract.aks.config import AksConfig
from emulators.azure.client import Emulator
from emulators.azure.provider import AzureEmulator
from emulators.azure.recovery import connect
from infra.program import run
from support import aks
from support.cloud_state import STACK, Resource, urn
from support.recorder import Recorder, record
from workbench.recovery.cloud.azure.account import AzureAccount, open_account

OWN: dict[str, Any] = {"cluster.secretsKeyId": None, "cluster.diskEncryptionSetId": None}
"""Changes of the stack file without which another owner would have to make keys first."""


@dataclass
class Maker(Recorder):
    """Takes the engine's place: what the program declares, the emulator's provider makes."""

    things: list[Resource] = field(default_factory=list)
    provider: AzureEmulator = field(default_factory=AzureEmulator)

    def new_resource(self, args: Any) -> tuple[str, dict[str, Any]]:
        if args.typ == "pulumi:providers:azure-native":
            self.provider.configure(args.inputs)
        if not args.typ.startswith("azure-native:"):
            return super().new_resource(args)
        given = _as_sent(args.inputs)
        checked = self.provider.check(args.typ, args.name, given, seed=b"then", kept={})
        inputs = {**given, **checked.filled, **checked.added}
        identifier, outputs = self.provider.create(args.typ, args.name, inputs)
        self.things.append(Resource(urn(args.typ, args.name), args.typ, inputs, identifier, outputs))
        return identifier, {**inputs, **outputs}


def _as_sent(value: Any) -> Any:
    """Return whole numbers as such: the recorder has them with a point."""
    if isinstance(value, dict):
        return {key: _as_sent(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_as_sent(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def choices(changes: dict[str, Any] | None = None) -> AksConfig:
    """Return what the test stack's file says about its cluster, with ``changes``."""
    found = aks.config({**OWN, **(changes or {})}).cluster
    assert isinstance(found, AksConfig)
    return found


def account_at(emulator: Emulator, patch: pytest.MonkeyPatch) -> AzureAccount:
    """Return the account of the test stack, with the emulator in Azure's place until the patch ends."""
    for name, value in emulator.environment.items():
        patch.setenv(name, value)
    return open_account(STACK, choices(), connect)


def build_in_azure(changes: dict[str, Any] | None = None) -> list[Resource]:
    """Make all that the program of the test stack with ``changes`` declares, and return what is of Azure."""
    maker = Maker()
    record(lambda: run(aks.config({**OWN, **(changes or {})})), recorder=maker)
    return maker.things
