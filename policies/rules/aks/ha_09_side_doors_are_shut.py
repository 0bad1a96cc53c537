"""HA-09: the API is the only way into an AKS cluster, and pods have their own identities."""

from collections.abc import Iterator

from components.contract.environments import Environment
from policies.resource import Resource
from policies.rule import Context, Finding, Level, Rule, Severity
from policies.views.clusters import AKS_CLUSTERS_AND_POOLS, is_aks_cluster
from policies.views.node_groups import node_groups


def check(resource: Resource, _: Context) -> Iterator[Finding]:
    """Require pools without SSH, and a cluster without SSH keys and run command, with workload identity and its issuer.

    ``sshAccess`` may be absent, because stable API versions define the property and reject it
    (https://github.com/Azure/azure-rest-api-specs/issues/40740). Without a key in the cluster, SSH cannot be used.
    """
    for pool in node_groups(resource):
        ssh = pool.props.at("securityProfile", "sshAccess").text()
        if ssh not in (None, "Disabled"):
            yield Finding(f"{pool} has sshAccess {ssh}; expected none or Disabled.")
    if not is_aks_cluster(resource):
        return
    if resource.props.at("linuxProfile", "ssh", "publicKeys").elements():
        yield Finding(f"Cluster '{resource.name}' configures SSH keys for its nodes; expected no linuxProfile.")
    if not resource.props.at("apiServerAccessProfile", "disableRunCommand").flag():
        yield Finding(f"Cluster '{resource.name}' allows the run command; expected disableRunCommand: true.")
    for path in (("oidcIssuerProfile", "enabled"), ("securityProfile", "workloadIdentity", "enabled")):
        if not resource.props.at(*path).flag():
            yield Finding(f"Cluster '{resource.name}' has {'.'.join(path)} off; expected on.")


RULE = Rule(
    id="HA-09",
    slug="side-doors-are-shut",
    title="AKS must disable SSH and the run command, and enable workload identity",
    severity=Severity.MEDIUM,
    level=dict.fromkeys(Environment, Level.ADVISORY),
    source="Azure Policy for AKS, built-in definitions (command invoke, SSH, workload identity)",
    applies_to=AKS_CLUSTERS_AND_POOLS,
    why="SSH and the run command bypass RBAC and the audit log. Without workload identity, pods share the node's "
    "rights.",
    fix="Leave linuxProfile out; set disableRunCommand, oidcIssuerProfile.enabled and workloadIdentity.enabled.",
    check=check,
)
