"""The initial pool of a stack file: there is exactly one, large enough for its environment."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from pydantic import ValidationError, ValidatorFunctionWrapHandler

from components.contract.choices import Findings
from components.contract.environments import Environment
from components.contract.pools import PoolRole

PROD_INITIAL_MIN: Final = 2
"""Minimum number of initial nodes in production, for high availability (Iguazio best practices, production cluster)."""


def one_initial_pool(pools: Any, handler: ValidatorFunctionWrapHandler, environment: Environment | None) -> Any:
    """Check the initial pool even if another pool is invalid; therefore this wraps the pools' own validation.

    Parameters
    ----------
    pools
        Value of ``pools`` in the stack file.
    handler
        The pools' own validation.
    environment
        The stack's environment; None if it is invalid.

    Raises
    ------
    ValidationError
        All problems of the pools.
    """
    findings, sound = Findings(), {}
    with findings.collect():
        sound = handler(pools)
    if isinstance(pools, Mapping) and pools:
        roles = {str(name): pool.get("role") if isinstance(pool, Mapping) else None for name, pool in pools.items()}
        initial = [name for name, role in roles.items() if role == PoolRole.INITIAL]
        if not initial and all(role in list(PoolRole) for role in roles.values()):  # else the unknown one may be it
            findings.add("NG-02: exactly one pool must have the role 'initial', but none has")
        for name in initial[1:]:
            findings.add(f"NG-02: only one pool may have the role 'initial', and '{initial[0]}' has it", name, "role")
        for name in initial[:1] if environment is Environment.PROD else ():
            with suppress(ValidationError, KeyError):  # problems of the pool itself are already noted
                if (least := handler({name: pools[name]})[name].size.min) < PROD_INITIAL_MIN:
                    rule = f"NG-06: in prod the initial pool must have at least {PROD_INITIAL_MIN} nodes"
                    findings.add(f"{rule}; raise min and max", name, "size", "min", given=least)
    findings.raise_if_any()
    return sound
