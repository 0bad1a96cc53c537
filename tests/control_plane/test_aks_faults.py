"""What goes wrong in Azure while a stack changes: the next `up` repairs it, or the text names cause and next step."""

from collections.abc import Iterator
from typing import Any, Final

import pytest

from emulators.azure.resources.connection import DELAYS
from emulators.core.client import not_yet_there
from emulators.core.faults import (
    ErrorRule,
    FailedRule,
    Issue,
    LostRule,
    NotYetVisibleRule,
    StuckRule,
)
from support.azure_emulator import CLUSTER, POOL, Subscription, identities, there
from support.cloud_faults import Case, disturbed, together
from support.lives import SMALL
from workbench.offline.azure.facts import resource

pytestmark = [pytest.mark.control_plane, pytest.mark.full]

STACK: Final = "aks-dev"
UP: Final = ("up", STACK, "--hermetic", "--yes")
QUICK: Final = {"IGZ_CLUSTERS_EMULATOR_PACE": "0.001"}
"""Lets the plug-in wait a tenth of the usual before it gives up."""

WRITE: Final = "Microsoft.ContainerService/managedClusters/agentPools/write"
NEW: Final = "*/agentPools/{pool}????"
USUAL: Final = {"role": "workload", "size": {"min": 0, "max": 2}, "instanceTypes": ["Standard_D4s_v5"]}
SPOT: Final = {**USUAL, "lifecycle": "spot"}

EXPIRED = ErrorRule(code="ExpiredAuthenticationToken", status=401, message="The access token expiry UTC time is past")
NO_SPOT = Issue(code="OverconstrainedZonalAllocationRequest", message="Allocation failed. No spot capacity in zone 1")
BROKEN = Issue(code="VMExtensionProvisioningError", message="Nodes failed to reach the API server")
AGAIN: Final = "--cluster-name mlrun-dev --name {pool}"

PASSING = {
    # As often as the plug-in tries again. A share of all calls would meet some call more often, and end the run.
    "throttling": Case(USUAL, (ErrorRule(each=True, times=len(DELAYS), code="TooManyRequests", status=429),)),
    "failures of Azure's own": Case(
        USUAL, (ErrorRule(each=True, times=len(DELAYS), code="InternalServerError", status=500),)
    ),
    "answer lost": Case(USUAL, (LostRule(operation=WRITE, times=1),)),
    "not found right after it was made": Case(
        USUAL, (not_yet_there(WRITE.replace("write", "read"), "ResourceNotFound", 2, about=NEW),)
    ),
}
"""Faults that the user does not notice."""

FAILING = {
    "Failed": Case(
        USUAL,
        (FailedRule(operation=WRITE, about=NEW, issues=(BROKEN,)),),
        ("agent pool {pool}", "VMExtensionProvisioningError: Nodes failed to reach", "az aks nodepool update", AGAIN),
    ),
    "no spot capacity for one of four": Case(
        SPOT,
        (FailedRule(operation=WRITE, about=NEW, issues=(NO_SPOT,)),),
        ("agent pool {pool}", "OverconstrainedZonalAllocationRequest: Allocation failed", AGAIN),
    ),
    "stuck": Case(
        USUAL, (StuckRule(operation=WRITE, about=NEW),), ("operation timed out", "agent pool {pool}", "is Creating")
    ),
    "access denied": Case(
        USUAL,
        (ErrorRule(operation=WRITE, code="AuthorizationFailed", status=403, message="no rights"),),
        ("AgentPool aks-dev-pools-{pool}", 'Code="AuthorizationFailed" Message="no rights"', "Fix the cause"),
    ),
    "credentials expired while things were compared": Case(
        USUAL,
        (EXPIRED.model_copy(update={"operation": "Microsoft.ManagedIdentity/*"}),),  # asked for by the plug-in alone
        ("The session at Azure expired.", "igz-clusters recover"),
    ),
    "credentials expired while things were made": Case(
        USUAL,
        (EXPIRED.model_copy(update={"operation": WRITE}),),
        ("The session at Azure expired.", "igz-clusters recover"),
    ),
}
"""What ends an `up`, and what it says."""

LONG = {*PASSING, "Failed", "stuck", "access denied", "credentials expired while things were compared"}
"""What others show in part."""

CASES = {**PASSING, "all that passes by itself": together(*PASSING.values()), **FAILING}


@pytest.fixture(scope="module")
def dev(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Subscription]:
    """The smallest stack; each test adds a pool, and leaves it to those that follow."""
    with Subscription.opened(tmp_path_factory.mktemp("faults"), STACK, is_quick=True) as made:
        made.edit(STACK, policyGuard="off", pools__workload=None, **SMALL)
        yield made


@pytest.fixture(autouse=True)
def no_faults_left(dev: Subscription) -> Iterator[None]:
    yield
    dev.azure.set_faults()


def again(dev: Subscription, pool: dict[str, Any]) -> None:
    """Let AKS try again, as `az aks nodepool update` without more does it."""
    version = resource(POOL).api_version
    told = dev.azure.ask("PUT", pool["id"], version, {"properties": pool["properties"]})
    assert told.status == 200, told


def state(dev: Subscription, pool: str) -> str:
    """Return how the only agent pool of a pool is."""
    (found,) = dev.agent_pools(pool)
    return str(found["properties"]["provisioningState"])


def test_a_role_that_does_not_hold_yet_delays_the_first_up_and_does_not_end_it(dev: Subscription) -> None:
    dev.azure.set_faults(NotYetVisibleRule(operation="*/write", calls=60))
    run = dev.start(*UP, **QUICK)
    assert run.stdout
    printed = []
    for line in run.stdout:
        printed.append(line)
        if "Azure denies access; a new role assignment" in line:
            assert CLUSTER not in dev.azure.inventory()
            dev.azure.set_faults()
    text = "".join(printed)
    assert run.wait(timeout=600) == 0, text[-6000:]
    assert "or it does not hold yet" in text
    assert "Retrying in 30 s, run 2 of 6." in text
    assert "PrincipalNotFound" not in text
    in_state, in_azure = identities(dev, STACK)
    assert in_state == in_azure


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.kills] if name in LONG else []) for name in CASES]
)
def test_what_goes_wrong_is_mended_by_the_next_up_or_told(dev: Subscription, name: str) -> None:
    case, pool = CASES[name], f"p{list(CASES).index(name)}"
    healthy = [f"{pool}{letter}" for letter in "abc"] if "of four" in name else []
    dev.edit(STACK, **{f"pools__{pool}": dict(case.pool)}, **{f"pools__{each}": dict(USUAL) for each in healthy})
    code, text = disturbed(dev, UP, case.faults(pool), **QUICK)
    assert "Traceback" not in text
    assert code == (1 if case.said else 0), text[-6000:]
    assert case.unsaid(pool, text) == [], text[-6000:]
    assert [state(dev, each) for each in healthy] == ["Succeeded"] * len(healthy)
    if any(isinstance(rule, FailedRule) for rule in case.rules):
        second = dev.run(*UP, check=False)
        assert second.returncode == 1, second.stdout[-6000:]
        assert case.unsaid(pool, second.stderr) == []
    for left in dev.agent_pools(pool) if case.said else ():
        if name == "stuck":
            dev.azure.ask("POST", f"{left['id']}/abort", resource(POOL).api_version)
        again(dev, left)
    if "igz-clusters recover aks-dev" in text:
        dev.run("recover", STACK, "--yes", "--hermetic")
    if case.said:
        dev.run(*UP)
    assert state(dev, pool) == "Succeeded"
    in_state, in_azure = identities(dev, STACK)
    assert in_state == in_azure


@pytest.mark.kills  # the delay is the engine's, as in test_eks_faults.py
def test_a_network_interface_that_was_left_delays_a_destroy_and_does_not_end_it(dev: Subscription) -> None:
    left = dev.azure.leave_network_interface(dev.azure.inventory()["azure-native:network:Subnet"][0])
    run = dev.start("destroy", STACK, "--hermetic", "--yes")
    assert run.stdout
    printed = []
    for line in run.stdout:
        printed.append(line)
        if "Azure reports resources as still in use. Retrying in" in line:
            dev.azure.remove_network_interface(left)
    assert run.wait(timeout=600) == 0, "".join(printed)[-6000:]
    assert [line for line in printed if "Retrying in" in line]
    assert there(dev) == set()
