"""Stacks for tests of rehearsals."""

from typing import Any, Final

from infra.config import StackConfig, parse

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
    pools = {name: pool for name, pool in POOLS.items() if name not in without}
    document = {"schemaVersion": 1, "environment": "dev", "cluster": {"kind": "local"}, "pools": pools, **choices}
    return parse(document)
