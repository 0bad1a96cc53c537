"""Stacks for tests of rehearsals."""

from pathlib import Path
from typing import Any, Final

import yaml

from infra.config import CONFIG_KEY, StackConfig, parse
from workbench.stacks import Stack

_MACHINES: Final = ["m6i.2xlarge"]
POOLS: Final[dict[str, Any]] = {
    "initial": {"role": "initial", "size": {"min": 2, "max": 2}, "instanceTypes": _MACHINES},
    "work": {"role": "workload", "size": {"min": 0, "max": 5}, "instanceTypes": _MACHINES},
    "spot": {"role": "workload", "lifecycle": "spot", "size": {"min": 0, "max": 5}, "instanceTypes": _MACHINES},
    "notebooks": {"role": "jupyter", "size": {"min": 1, "max": 1}, "instanceTypes": _MACHINES},
    "gpu": {"role": "gpu", "size": {"min": 0, "max": 2}, "instanceTypes": ["g5.2xlarge"]},
}


def stack(*without: str, **choices: Any) -> StackConfig:
    """Return a local stack with all pools but those named; ``choices`` are keys of the stack file."""
    return parse(_document(without, choices))


def stack_file(folder: Path, *without: str, **choices: Any) -> Stack:
    """Write the same stack as a stack file and return it."""
    file = folder / "Pulumi.played.yaml"
    document = {"config": {CONFIG_KEY: _document(without, choices)}}
    file.write_text(yaml.safe_dump(document))
    return Stack("played", file, document, stack(*without, **choices))


def _document(without: tuple[str, ...], choices: dict[str, Any]) -> dict[str, Any]:
    pools = {name: pool for name, pool in POOLS.items() if name not in without}
    return {"schemaVersion": 1, "environment": "dev", "cluster": {"kind": "local"}, "pools": pools, **choices}
