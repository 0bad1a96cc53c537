"""HC-01: clusters, node groups and role bindings have types that the rules read."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Final

from policies.resource import Resource
from policies.rule import MANDATORY_EVERYWHERE, Context, Finding, Rule, Severity, resources_of
from policies.values import UNKNOWN, NotJudgeableError
from policies.views.clusters import CLUSTERS
from policies.views.node_groups import NODE_GROUPS
from policies.views.type_tokens import azure_native

_READ: Final = f"({CLUSTERS.types.pattern}|{NODE_GROUPS.types.pattern})$"
_VENDOR: Final = "(?i:[^:]*(eks|gke|lke|k8s|kubernetes|container(?!registry|s[/:]))[^:]*)"
"""Modules; neither registries nor EMR's virtual clusters, which are namespaces."""

_OPERATOR: Final = r"((eks|container|containerservice)\.[^:]*|([\w-]+\.)*cluster\.x-k8s\.io/[^:]*)"
"""Groups of Kubernetes objects from which operators create clusters; most objects named so are databases."""

_NAME: Final = r"\w*(Cluster|Node[gG]roup|NodePool|AgentPool)(V\d+|Patch)?"

TWINS: Final = (
    # Kubernetes of any vendor: aws-native:eks:Nodegroup, azure:containerservice/kubernetesCluster:KubernetesCluster.
    rf"(?!{_READ}|kubernetes:)[\w-]+:{_VENDOR}:{_NAME}",
    rf"kubernetes:{_OPERATOR}:{_NAME}",
    "aws-native:autoscaling:AutoScalingGroup",
    "aws-native:ec2:LaunchTemplate",
    # OpenShift has its own group, other packages their own types.
    r"(?!kubernetes:rbac\.)[\w-]*(kubernetes|k8s|kubectl|openshift)[\w-]*:[^:]*:(Cluster)?RoleBinding(V\d+|Patch)?",
    "kubernetes:index/[^:]*:[^:]*",
)
"""Types of other packages for what the rules check; the last are those of Terraform's provider for Kubernetes."""

CARRIERS: Final[Mapping[str, tuple[str, ...]]] = {
    "aws:cloudcontrol/resource:Resource": ("typeName",),
    "aws-native:index:ExtensionResource": ("type",),
    r"aws(-native)?:cloudformation[/\w]*:Stack": ("templateBody",),
    azure_native("resources", "Resource"): ("resourceProviderNamespace",),
    azure_native("resources", "Deployment"): ("properties", "template"),
    r"azure:core/\w*[tT]emplateDeployment:\w+": ("templateContent",),
}
"""Types that make resources of any type, and the input that names it."""

_CARRIED: Final = re.compile(r"AWS::EKS::(Cluster|Nodegroup)|Microsoft\.ContainerService", re.IGNORECASE)


def check(resource: Resource, _: Context) -> Iterator[Finding]:
    """Reject other packages' types, and these resources in templates and by name."""
    what = f"'{resource.name}' is of type {resource.type}"
    for token, path in CARRIERS.items():
        if re.fullmatch(token, resource.type):
            place = resource.props.at(*path)
            content = json.dumps(place.raw, default=repr)
            if found := _CARRIED.search(content):
                yield Finding(f"{what} and makes {found[0]}, which no rule reads there; expected {_EXPECTED}.")
            elif repr(UNKNOWN) in content:
                raise NotJudgeableError(place.path)
            return
    yield Finding(f"{what}, which no rule reads; expected {_EXPECTED}.")


_EXPECTED: Final = "a type of the packages aws, azure-native or kubernetes that the rules read"

RULE = Rule(
    id="HC-01",
    slug="types-are-read",
    title="Clusters, node groups and role bindings must have types that the rules read",
    severity=Severity.HIGH,
    level=MANDATORY_EVERYWHERE,
    source="Pulumi documentation, policy as code (a policy validates resources of the types that it names)",
    applies_to=resources_of(
        "each cluster, node group and role binding of another type, and each template that may contain one",
        *TWINS,
        *CARRIERS,
    ),
    why="Each rule reads the inputs of certain types. A cluster of another type passes all of them unread.",
    fix="Use the type that the rules read, such as aws:eks/cluster:Cluster instead of aws-native:eks:Cluster.",
    check=check,
)
