"""Runs a Pulumi program without an engine and records every resource that it declares."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pulumi.runtime import mocks
from pulumi.runtime.stack import run_pulumi_func

COMPUTED: dict[str, Callable[[str], dict[str, Any]]] = {
    "aws:eks/cluster:Cluster": lambda name: {
        "endpoint": f"https://{name}.example",
        "certificateAuthority": {"data": "Y2VydGlmaWNhdGU="},
    },
    "aws:eks/nodeGroup:NodeGroup": lambda name: {"resources": [{"autoscalingGroups": [{"name": f"{name}-asg"}]}]},
    "aws:ec2/launchTemplate:LaunchTemplate": lambda _: {"latestVersion": 1},
}
"""What the provider answers beside the inputs, by type, where a program reads it."""


@dataclass(frozen=True)
class Recorded:
    """One declared resource: its type token, logical name and inputs as the engine would get them."""

    type: str
    name: str
    inputs: dict[str, Any]
    provider: str


@dataclass
class Recorder(mocks.Mocks):
    """Answers the SDK in the engine's place and keeps what was declared."""

    resources: list[Recorded] = field(default_factory=list)

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        self.resources.append(Recorded(args.typ, args.name, args.inputs, args.provider))
        computed = COMPUTED.get(args.typ, lambda _: {})(args.name)
        return f"{args.name}-id", {"arn": f"arn:{args.typ}:{args.name}", **args.inputs, **computed}

    def call(self, args: mocks.MockCallArgs) -> dict[str, Any]:
        raise AssertionError(f"the program called {args.token}: no data source may be needed for a preview")

    def of_type(self, token: str) -> dict[str, dict[str, Any]]:
        """Return the inputs of all resources of one type by logical name."""
        return {r.name: r.inputs for r in self.resources if r.type == token}


def record(program: Callable[[], None]) -> Recorder:
    """Run ``program`` to its end, outputs and all, and return what it declared."""
    recorder = Recorder()
    asyncio.set_event_loop(asyncio.new_event_loop())
    mocks.set_mocks(recorder, project="igz-clusters", stack="test", preview=False)

    async def run() -> None:
        await run_pulumi_func(program)

    asyncio.get_event_loop().run_until_complete(run())
    return recorder
