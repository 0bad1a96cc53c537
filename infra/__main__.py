"""Entry point for the engine: read the stack file, declare the stack."""

import gc
import os
import sys
from pathlib import Path

import pulumi

from components.contract.existing.cluster_inventory import INVENTORY_VARIABLE, ClusterInventory
from components.contract.existing.config import ExistingConfig
from components.contract.live_sizes import LIVE_SIZES_VARIABLE, load
from components.contract.local.config import LocalConfig
from components.contract.policy_guard import ATTACHED, GUARD_VARIABLE, PolicyGuard
from components.stack_files.inheritance import folder_of_the_run
from infra.config import CONFIG_KEY, ConfigurationError, Problem, StackConfig
from infra.config.inheritance import resolve

KUBECONFIG = "IGZ_CLUSTERS_LOCAL_KUBECONFIG"
"""Set by ``igz-clusters``. Never the user's own KUBECONFIG: simulated nodes must not land in a real cluster."""


def _choices() -> StackConfig:
    namespace, _, name = CONFIG_KEY.partition(":")
    if pulumi.runtime.is_config_secret(CONFIG_KEY):  # it arrives decrypted, and a message could show it
        raise ConfigurationError(
            [Problem((), "holds an encrypted value; this configuration must not be encrypted, use plain values")]
        )
    config = pulumi.Config(namespace)
    try:
        document = config.get_object(name)
    except pulumi.ConfigTypeError:
        document = config.get(name)
    return resolve(document, folder_of_the_run())


def _demand_the_guard(stack: StackConfig) -> None:
    """Stop an update without policy packs if the stack's guard requires them; previews always run."""
    if pulumi.runtime.is_dry_run() or os.environ.get(GUARD_VARIABLE) == ATTACHED:
        return
    name, guard = pulumi.get_stack(), stack.policy_guard
    found = f"policyGuard of this stack is '{guard}', but this update has no policy packs attached. Use"
    way = f"`igz-clusters up {name}`"
    if isinstance(stack.cluster, LocalConfig | ExistingConfig):
        way += f', or run `eval "$(igz-clusters env {name})"` first'
    if guard is PolicyGuard.REQUIRED:
        sys.exit(f"error: {found} {way}.")
    if guard is PolicyGuard.WARN:
        pulumi.log.warn(f"{found} {way}.")


def _sighting(cluster: ExistingConfig) -> ClusterInventory:
    """Return the inventory from ``igz-clusters``; the program itself never queries the cluster."""
    file = os.environ.get(INVENTORY_VARIABLE)
    name = pulumi.get_stack()
    way = f'Use `igz-clusters up {name}`, or run `eval "$(igz-clusters env {name})"` first.'
    if not file:
        sys.exit(f"error: {INVENTORY_VARIABLE} is not set, so the cluster's nodes are unknown. {way}")
    try:
        seen = ClusterInventory.from_json(Path(file).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        sys.exit(f"error: {INVENTORY_VARIABLE} names {file}, which cannot be read: {error}. {way}")
    if seen.cluster_id != cluster.cluster_id:
        sys.exit(f"error: {file} describes cluster {seen.cluster_id}, but the stack is for {cluster.cluster_id}. {way}")
    return seen


def _live_sizes() -> dict[str, int]:
    """Return the nodes of the existing groups, as ``igz-clusters`` read them from the refreshed state."""
    try:
        return load(os.environ.get(LIVE_SIZES_VARIABLE, ""))
    except ValueError as error:
        sys.exit(f"error: {LIVE_SIZES_VARIABLE} must hold numbers of nodes by group, as JSON: {error}. Unset it.")


try:
    stack = _choices()
except ConfigurationError as error:
    sys.exit("\n".join(f"error: {problem.place}{problem}" for problem in error.problems))
kubeconfig = os.environ.get(KUBECONFIG)
if isinstance(stack.cluster, LocalConfig) and not kubeconfig:
    sys.exit(f'error: {KUBECONFIG} is not set. Use `igz-clusters up`, or run `eval "$(igz-clusters env)"` first.')
sighting = _sighting(stack.cluster) if isinstance(stack.cluster, ExistingConfig) else None
live_sizes = _live_sizes()
_demand_the_guard(stack)

# The program ends within seconds. Looking for cycles takes up to a third of its time and frees a tenth of its memory.
gc.disable()
from infra.program import run  # noqa: E402 most of that time is the import of the Kubernetes SDK

run(stack, kubeconfig=kubeconfig, sighting=sighting, live_sizes=live_sizes)
