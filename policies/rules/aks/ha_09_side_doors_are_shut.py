"""HA-09: there is no way into a cluster beside its API, and pods have identities of their own."""

from collections.abc import Iterator

from components.contract.environments import Environment
from policies.resource import Resource
from policies.rule import Context, Finding, Level, Rule, Severity
from policies.views.clusters import AKS_CLUSTERS_AND_POOLS, is_aks_cluster
from policies.views.node_groups import node_groups


def check(resource: Resource, _: Context) -> Iterator[Finding]:
    """Demand pools without SSH, and of a cluster no keys for it, no run command, and workload identity with its issuer.

    A pool need not say that SSH is off: the stable versions of the API know the word and refuse it
    (https://github.com/Azure/azure-rest-api-specs/issues/40740). Where the cluster has no key, nobody holds one.
    """
    for pool in node_groups(resource):
        ssh = pool.props.at("securityProfile", "sshAccess").text()
        if ssh not in (None, "Disabled"):
            yield Finding(f"{pool} has sshAccess {ssh}, wanted none or Disabled.")
    if not is_aks_cluster(resource):
        return
    if resource.props.at("linuxProfile", "ssh", "publicKeys").elements():
        yield Finding(f"Cluster '{resource.name}' has keys for SSH on its nodes, wanted no linuxProfile.")
    if not resource.props.at("apiServerAccessProfile", "disableRunCommand").flag():
        yield Finding(f"Cluster '{resource.name}' allows the run command, wanted disableRunCommand: true.")
    for path in (("oidcIssuerProfile", "enabled"), ("securityProfile", "workloadIdentity", "enabled")):
        if not resource.props.at(*path).flag():
            yield Finding(f"Cluster '{resource.name}' has {'.'.join(path)} off, wanted on.")


RULE = Rule(
    id="HA-09",
    slug="side-doors-are-shut",
    title="AKS has no SSH and no run command, and gives pods identities",
    severity=Severity.MEDIUM,
    level=dict.fromkeys(Environment, Level.ADVISORY),
    source="Azure Policy for AKS, built-in definitions (command invoke, SSH, workload identity)",
    applies_to=AKS_CLUSTERS_AND_POOLS,
    why="Both doors lead past roles and audit log, and with the node's identity each pod has the rights of all.",
    fix="Leave linuxProfile out; set disableRunCommand, oidcIssuerProfile.enabled and workloadIdentity.enabled.",
    check=check,
)
