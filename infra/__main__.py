"""Entry point of the engine: read the stack file, declare the stack."""

import gc
import os
import sys

import pulumi

from infra.config import CONFIG_KEY, ConfigurationError, LocalClusterChoices, Problem, StackConfig, parse

KUBECONFIG = "IGZ_CLUSTERS_LOCAL_KUBECONFIG"
"""Set by ``igz-clusters``. Never the user's own KUBECONFIG: simulated nodes must not land in a real cluster."""


def _choices() -> StackConfig:
    namespace, _, name = CONFIG_KEY.partition(":")
    if pulumi.runtime.is_config_secret(CONFIG_KEY):  # it arrives decrypted, and a message could show it
        raise ConfigurationError([Problem((), "holds an encrypted value; choices are no secrets, write it plainly")])
    config = pulumi.Config(namespace)
    try:
        document = config.get_object(name)
    except pulumi.ConfigTypeError:
        document = config.get(name)
    return parse(document)


try:
    stack = _choices()
except ConfigurationError as error:
    sys.exit("\n".join(f"error: {problem}" for problem in error.problems))
kubeconfig = os.environ.get(KUBECONFIG)
if isinstance(stack.cluster, LocalClusterChoices) and not kubeconfig:
    sys.exit(f'error: {KUBECONFIG} is not set. Use `igz-clusters up`, or run `eval "$(igz-clusters env)"` first.')

# The program ends within seconds. Looking for cycles takes up to a third of its time and frees a tenth of its memory.
gc.disable()
from infra.program import run  # noqa: E402 most of that time is the import of the Kubernetes SDK

run(stack, kubeconfig=kubeconfig)
