"""Entry point of the engine: read the stack file, declare the stack."""

import os
import sys

import pulumi

from infra.config import ConfigurationError, LocalClusterChoices, parse
from infra.program import run

KUBECONFIG = "IGZ_CLUSTERS_LOCAL_KUBECONFIG"
"""Set by ``igz-clusters``. Never the user's own KUBECONFIG: simulated nodes must not land in a real cluster."""

try:
    stack = parse(pulumi.Config("igz-clusters").require_object("stack"))
except ConfigurationError as error:
    sys.exit("\n".join(f"error: {problem}" for problem in error.problems))
kubeconfig = os.environ.get(KUBECONFIG)
if isinstance(stack.cluster, LocalClusterChoices) and not kubeconfig:
    sys.exit(f'error: {KUBECONFIG} is not set. Use `igz-clusters up`, or run `eval "$(igz-clusters env)"` first.')
run(stack, kubeconfig=kubeconfig)
