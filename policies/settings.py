"""Facts about the stack for rules, from the engine's configuration."""

from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, date, datetime
from typing import Any

from pydantic import ValidationError

from components.contract.clusters import spot_taint
from components.contract.environments import ClusterKind, Environment, PlatformProfile
from components.contract.gpus import DEFAULT_GPU_RESOURCE
from components.contract.identity import JOBS_ACCOUNT
from components.contract.lifecycle import Lifecycle
from components.contract.namespaces import DEFAULT_NAMESPACES
from components.contract.placement import offers_mutation
from components.contract.policy_choices import PolicyChoices
from components.contract.pools import GPU_ROLES, USER_ROLES, PoolRole
from components.contract.sharing import shared_resource
from policies.rule import Context


def context(wanted: str | None, choices: Mapping[str, Any], stack_tags: Mapping[str, str]) -> Context:
    """Return the facts about the stack for rules.

    The first source with an environment decides: ``wanted`` (the rule's own configuration), the stack's configuration,
    the stack's tag ``environment``. Without a valid one the stack counts as production, the strictest choice.
    """
    named = wanted or choices.get("environment") or stack_tags.get("environment")
    namespaces = choices.get("namespaces", DEFAULT_NAMESPACES if choices else None)
    pools = _pools(choices.get("pools"))
    gives_places = _gives_places(choices.get("cluster"))
    return Context(
        environment=Environment.DEV if named == Environment.DEV else Environment.PROD,
        profile=PlatformProfile.IGUAZIO
        if choices.get("profile") == PlatformProfile.IGUAZIO
        else PlatformProfile.MLRUN_CE,
        today=today(),
        choices=_policy_choices(choices.get("policies", {})),
        namespaces=frozenset(namespaces) if isinstance(namespaces, Iterable) else None,
        user_pools=_of_roles(pools, USER_ROLES),
        gpu_pools=_of_roles(pools, GPU_ROLES),
        spot_taint_keys=_spot_taint_keys(choices, pools) if pools else None,
        gpu_resources=tuple(sorted(set(filter(None, map(_stated_gpus, pools.values()))))),
        gives_places=gives_places,
        block_pools=frozenset(name for name, pool in pools.items() if _is_block(pool.get("reservation"))),
        job_accounts=_job_accounts(namespaces),
        corrected_gpus=_corrected_gpus(pools) if gives_places else (),
    )


def today() -> date:
    """Return the date for which a stack is checked; some rules depend on dates."""
    return datetime.now(tz=UTC).date()


def _pools(given: Any) -> Mapping[str, Mapping[str, Any]]:
    pools = given if isinstance(given, Mapping) else {}
    return {str(name): pool for name, pool in pools.items() if isinstance(pool, Mapping)}


def _job_accounts(namespaces: Any) -> frozenset[tuple[str, str]]:
    identities = {
        str(name): choices["identity"]
        for name, choices in (namespaces.items() if isinstance(namespaces, Mapping) else ())
        if isinstance(choices, Mapping) and isinstance(choices.get("identity"), Mapping)
    }
    return frozenset(
        (name, account)
        for name, identity in identities.items()
        for account in (JOBS_ACCOUNT, *identity.get("accounts", ()))
    )


def _gives_places(cluster: Any) -> bool:
    return isinstance(cluster, Mapping) and bool(offers_mutation(cluster))


def _of_roles(pools: Mapping[str, Mapping[str, Any]], roles: Collection[PoolRole]) -> frozenset[str] | None:
    return frozenset(name for name, pool in pools.items() if pool.get("role") in roles) if pools else None


def _is_block(reservation: Any) -> bool:
    return isinstance(reservation, Mapping) and reservation.get("block") is True


def _stated_gpus(pool: Mapping[str, Any]) -> str:
    return shared_resource(pool) or str(pool.get("gpuResource") or "")


def _corrected_gpus(pools: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    if all(pool.get("role") != PoolRole.WORKLOAD for pool in pools.values()):
        return ()
    gpus = (pool for pool in pools.values() if pool.get("role") in GPU_ROLES)
    return tuple(sorted({_stated_gpus(pool) or DEFAULT_GPU_RESOURCE for pool in gpus}))


def _spot_taint_keys(choices: Mapping[str, Any], pools: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    cluster = choices.get("cluster")
    kind = cluster.get("kind") if isinstance(cluster, Mapping) else None
    known = ClusterKind(kind) if kind in list(ClusterKind) else ClusterKind.LOCAL
    is_iguazio = choices.get("profile") == PlatformProfile.IGUAZIO
    taint = spot_taint(known, PlatformProfile.IGUAZIO if is_iguazio else PlatformProfile.MLRUN_CE)
    has_spot = any(pool.get("lifecycle") == Lifecycle.SPOT for pool in pools.values())
    return (taint.key,) if taint and has_spot else ()


def _policy_choices(given: Any) -> PolicyChoices:
    try:
        return PolicyChoices.model_validate(given)
    except ValidationError:
        # The program itself rejects it, with a better message.
        return PolicyChoices.model_validate({})
