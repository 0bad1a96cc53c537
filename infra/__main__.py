"""Entry point for the engine: read the stack file, declare the stack."""

import atexit
import gc
import sys

import pulumi

from components.contract.existing.config import ExistingConfig
from components.contract.local.config import LocalConfig
from components.stack_files.inheritance import folder_of_the_run
from infra.config import CONFIG_KEY, ConfigurationError, Problem, StackConfig
from infra.config.inheritance import resolve
from infra.run_facts import RunRefusedError, demand_the_guard, run_facts


def _choices() -> StackConfig:
    namespace, _, name = CONFIG_KEY.partition(":")
    if pulumi.runtime.is_config_secret(CONFIG_KEY):  # it arrives decrypted, and messages could show it
        raise ConfigurationError(
            [Problem((), "holds an encrypted value; this configuration must not be encrypted, use plain values")]
        )
    config = pulumi.Config(namespace)
    try:
        document = config.get_object(name)
    except pulumi.ConfigTypeError:
        document = config.get(name)
    return resolve(document, folder_of_the_run())


def _way(stack: StackConfig) -> str:
    name = pulumi.get_stack()
    has_env = isinstance(stack.cluster, LocalConfig | ExistingConfig)
    env = f', or run `eval "$(igz-clusters env {name})"` first' if has_env else ""
    return f"Use `igz-clusters up {name}`{env}."


try:
    stack = _choices()
    facts = run_facts(stack, _way(stack))
    demand_the_guard(stack.policy_guard, _way(stack))
except ConfigurationError as error:
    sys.exit("\n".join(f"error: {problem.place}{problem}" for problem in error.problems))
except RunRefusedError as error:
    sys.exit(f"error: {error}")

# The program ends within seconds. Garbage collection takes up to a third of its time, for a tenth of its memory.
gc.disable()
atexit.register(gc.freeze)  # on exit the interpreter collects once more, except frozen objects
from infra.program import run  # noqa: E402 most of that time is the import of the Kubernetes SDK

run(stack, kubeconfig=facts.kubeconfig, sighting=facts.sighting, live_sizes=facts.live_sizes)
