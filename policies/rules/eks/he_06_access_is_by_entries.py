"""HE-06: who may reach the cluster stands in AWS's API, and the creator is not among them by accident."""

from collections.abc import Iterator

from components.contract.environments import Environment
from policies.resource import Resource
from policies.rule import Context, Finding, Level, Rule, Severity
from policies.views.clusters import EKS_CLUSTERS

WANTED_MODE = "API"


def check(cluster: Resource, _: Context) -> Iterator[Finding]:
    """Demand access entries alone, and no rights for the creator; AWS's defaults are the opposite of both."""
    access = cluster.props.at("accessConfig")
    mode = access.at("authenticationMode").text()
    if mode != WANTED_MODE:
        yield Finding(f"Cluster '{cluster.name}' has authenticationMode {mode or 'absent'}, wanted {WANTED_MODE}.")
    if access.at("bootstrapClusterCreatorAdminPermissions").flag() is not False:
        yield Finding(f"Cluster '{cluster.name}' makes its creator an admin for ever, wanted an entry for each admin.")


RULE = Rule(
    id="HE-06",
    slug="access-is-by-entries",
    title="Access to EKS is given by access entries alone",
    severity=Severity.MEDIUM,
    level=dict.fromkeys(Environment, Level.ADVISORY),
    source="EKS best practices, security (identity and access, access entries); CIS EKS benchmark, 4.1.7",
    applies_to=EKS_CLUSTERS,
    why="The ConfigMap aws-auth can lock everybody out with one typing error, and the creator's rights are in no list.",
    fix="Set accessConfig.authenticationMode to API and bootstrapClusterCreatorAdminPermissions to false.",
    check=check,
)
