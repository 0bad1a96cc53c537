"""JU-02: the GPU pool of Jupyter services scales to zero."""

from collections.abc import Iterator

from components.contract.environments import Environment
from components.contract.labels import LabelKey
from policies.resource import Resource, Stack
from policies.rule import Context, Finding, Level, Rule, Severity, WholeStack
from policies.views.jupyter import app_services, is_gpu_notebook
from policies.views.node_groups import node_groups
from policies.views.pods import pods


def check(stack: Stack, _: Context) -> Iterator[Finding]:
    """Require a minimum of 0 for GPU groups that Jupyter services use."""
    pools = {pool for resource in stack for pool in _pools_of_notebooks(resource)}
    for resource in stack if pools else ():
        for group in node_groups(resource):
            if pools & {"", group.name} and group.has_gpus and group.size_min:
                yield Finding(
                    f"{group} keeps {group.size_min} GPU nodes for Jupyter; expected a minimum of 0.", urn=resource.urn
                )


def _pools_of_notebooks(resource: Resource) -> Iterator[str]:
    """Return the pools that Jupyter services with a GPU select; empty means any pool."""
    for pod in pods(resource):
        if is_gpu_notebook(pod):
            yield pod.selected(LabelKey.POOL) or ""
    if any(service.kind == "jupyter" and service.has_gpu for service in app_services(resource)):
        yield ""


RULE = Rule(
    id="JU-02",
    slug="its-gpu-pool-goes-to-zero",
    title="The GPU pool of Jupyter services must be able to scale to zero",
    severity=Severity.LOW,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.OFF},
    source="Iguazio best practices, Jupyter Service and GPUs",
    applies_to=WholeStack(),
    why="Stopping the service saves nothing while its machine keeps running.",
    fix="Set the pool's minimum size to 0.",
    check=check,
)
