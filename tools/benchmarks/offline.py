"""Runs a Pulumi program without an engine and prints, as JSON, what it declared and what it imported.

``python -m tools.benchmarks.offline FOLDER`` runs the program in FOLDER exactly as the engine's Python host does,
with the stack's configuration in ``PULUMI_CONFIG``; only the answers are made up: those of a first preview, in which
nothing that a cloud computes is known.
"""

import asyncio
import json
import runpy
import sys
from typing import Any, Final, NoReturn

from pulumi.runtime import mocks
from pulumi.runtime.stack import run_pulumi_func
from typing_extensions import override

REFORMED: Final = {"azure-native:containerservice:ManagedCluster": {"identity"}}
"""Inputs that come back in another form: a list of identities goes in, and a map of them comes out."""


class Recorder(mocks.Mocks):
    """Answers in the engine's place and keeps what was declared."""

    def __init__(self) -> None:
        self.resources: list[dict[str, Any]] = []

    @override
    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        self.resources.append({"type": args.typ, "name": args.name, "inputs": args.inputs})
        values = {key: value for key, value in args.inputs.items() if key not in REFORMED.get(args.typ, ())}
        return "", values  # no identifier: nothing exists yet

    @override
    def call(self, args: mocks.MockCallArgs) -> NoReturn:
        raise AssertionError(f"the program called {args.token}: no data source may be needed for a preview")


def record(folder: str) -> Recorder:
    """Run the program in ``folder`` to its end and return what it declared."""
    recorder = Recorder()
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    mocks.set_mocks(recorder, project="igz-clusters", stack="local", preview=True)

    def program() -> None:
        runpy.run_path(folder, run_name="__main__")

    async def run() -> None:
        await run_pulumi_func(program)

    loop.run_until_complete(run())
    loop.close()
    return recorder


if __name__ == "__main__":
    resources = record(sys.argv[1]).resources
    # Only what is not known yet has no form in JSON.
    print(json.dumps({"resources": resources, "modules": sorted(sys.modules)}, default=lambda _: "unknown"))
