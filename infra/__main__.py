"""Entry point of the engine: read the stack file, declare the stack."""

import gc
import os
import sys

import pulumi

from infra.config import ConfigurationError, parse

KUBECONFIG = "IGZ_CLUSTERS_LOCAL_KUBECONFIG"
"""Set by ``igz-clusters``. Never the user's own KUBECONFIG: simulated nodes must not land in a real cluster."""

try:
    stack = parse(pulumi.Config("igz-clusters").require_object("stack"))
except ConfigurationError as error:
    sys.exit("\n".join(f"error: {problem}" for problem in error.problems))
if not (kubeconfig := os.environ.get(KUBECONFIG)):
    sys.exit(f'error: {KUBECONFIG} is not set. Use `igz-clusters up`, or run `eval "$(igz-clusters env)"` first.')

# The program ends within seconds. Looking for cycles takes up to a third of its time and frees a tenth of its memory.
gc.disable()
from infra.program import run  # noqa: E402 most of that time is the import of the Kubernetes SDK

run(stack, kubeconfig=kubeconfig)
