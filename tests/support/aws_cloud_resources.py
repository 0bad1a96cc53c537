"""Runs our program against an AWS emulator: each resource that it declares is really made, with its tags and names."""

from dataclasses import dataclass, field
from typing import Any

import boto3
import pytest

from components.contract.eks.config import EksConfig
from emulators.aws.client import Emulator
from emulators.aws.provider import AwsEmulator
from infra.program import run
from support import eks
from support.cloud_state import STACK, Resource, urn
from support.owners_roles import make_owners_roles
from support.recorder import Recorder, record
from workbench.recovery.cloud import open_account
from workbench.recovery.cloud.aws.account import AwsAccount

MORE: dict[str, Any] = {
    **eks.PODS,
    "storage": {
        "corpus": {"purpose": "dataset", "type": "files"},
        "fast": {"purpose": "dataset", "type": "lustre", "sizeGib": 1200, "zone": "a"},
    },
    "namespaces": {"mlrun": {"coreServices": True, "volumes": {"shared": {"storage": "corpus"}}}},
}
"""Changes after which the test stack has every type of resource: pods with addresses of their own, shared storage."""

BACKUP: dict[str, Any] = {"cluster.backup": {"lock": True}}
"""Changes after which it has backups too."""

NEAR: dict[str, Any] = {
    "pools.mpi": {
        "role": "workload",
        "size": {"min": 0, "max": 2},
        "instanceTypes": ["c7i.24xlarge"],
        "zone": "b",
        "closeTogether": True,
    }
}
"""Changes after which it has machines close to each other too."""


@dataclass
class Maker(Recorder):
    """Takes the engine's place: what the program declares, the emulator's provider makes."""

    things: list[Resource] = field(default_factory=list)
    provider: AwsEmulator = field(default_factory=AwsEmulator)

    def new_resource(self, args: Any) -> tuple[str, dict[str, Any]]:
        if args.typ == "pulumi:providers:aws":
            self.provider.configure(args.inputs)
        if not args.typ.startswith("aws:"):
            return super().new_resource(args)
        checked = self.provider.check(args.typ, args.name, args.inputs, seed=b"then", kept={})
        assert not checked.problems
        inputs = {**args.inputs, **checked.filled, **checked.added, "__defaults": sorted(checked.filled)}
        identifier, outputs = self.provider.create(args.typ, args.name, inputs)
        self.things.append(Resource(urn(args.typ, args.name), args.typ, inputs, identifier))
        return identifier, {**inputs, **outputs}


def account_at(emulator: Emulator, patch: pytest.MonkeyPatch) -> AwsAccount:
    """Return the account of the test stack, with the emulator in AWS's place until the patch ends."""
    for name, value in emulator.environment.items():
        patch.setenv(name, value)
    choices = eks.config().cluster
    assert isinstance(choices, EksConfig)
    found = open_account(STACK, choices)
    assert isinstance(found, AwsAccount)
    return found


def build_in_aws(changes: dict[str, Any] | None = None) -> list[Resource]:
    """Make all that the program of the test stack with ``changes`` declares, and return what is of AWS."""
    choices, maker = eks.config(changes), Maker()
    assert isinstance(choices.cluster, EksConfig)
    arns = [entry.role_arn for entry in choices.cluster.access.all_entries.values()]
    make_owners_roles(boto3.client("iam"), *(arn.rpartition("/")[2] for arn in arns))
    record(lambda: run(choices), recorder=maker)
    return maker.things
