"""HE-06: access to EKS is granted through access entries, and its creator has no implicit rights."""

from collections.abc import Iterator

from components.contract.environments import Environment
from policies.resource import Resource
from policies.rule import Context, Finding, Level, Rule, Severity
from policies.views.clusters import EKS_CLUSTERS

WANTED_MODE = "API"


def check(cluster: Resource, _: Context) -> Iterator[Finding]:
    """Require access entries only, and no rights for the creator; the EKS defaults are the opposite of both."""
    access = cluster.props.at("accessConfig")
    mode = access.at("authenticationMode").text()
    if mode != WANTED_MODE:
        yield Finding(f"Cluster '{cluster.name}' has authenticationMode {mode or 'absent'}; expected {WANTED_MODE}.")
    if access.at("bootstrapClusterCreatorAdminPermissions").flag() is not False:
        yield Finding(
            f"Cluster '{cluster.name}' makes its creator a permanent admin; expected an access entry for each admin."
        )


RULE = Rule(
    id="HE-06",
    slug="access-is-by-entries",
    title="EKS must grant access through access entries only",
    severity=Severity.MEDIUM,
    level=dict.fromkeys(Environment, Level.ADVISORY),
    source="EKS best practices, security (identity and access, access entries); CIS EKS benchmark, 4.1.7",
    applies_to=EKS_CLUSTERS,
    why="A typo in the aws-auth ConfigMap can lock everyone out, and the creator's implicit rights are not listed "
    "anywhere.",
    fix="Set accessConfig.authenticationMode to API and bootstrapClusterCreatorAdminPermissions to false.",
    check=check,
)
