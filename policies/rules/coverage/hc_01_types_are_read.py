"""HC-01: clusters, node groups and role bindings have types that the rules check."""

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
_VENDOR: Final = "(?i:[^:]*(eks|gke|lke|k8s|kubernetes|openshift|container(?!registry|s[/:]))[^:]*)"
"""Modules of clusters, but not of registries or EMR's virtual clusters, which are namespaces."""

_OPERATOR: Final = r"((eks|container|containerservice)\.[^:]*|([\w-]+\.)*cluster\.x-k8s\.io/[^:]*)"
"""API groups of objects from which operators create Kubernetes clusters; most other objects so named are databases."""

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
    r"aws(-native)?:cloudformation[/\w]*:Stack(Set)?": ("templateBody",),
    azure_native("resources", "Resource"): ("resourceProviderNamespace",),
    azure_native("resources", r"Deployment(At\w+)?"): ("properties", "template"),
    azure_native("resources", r"DeploymentStackAt\w+"): ("template",),
    r"azure:core/\w*[tT]emplateDeployment:\w+": ("templateContent",),
}
"""Types that create resources of any type, and the input that names the type."""

PUBLISHED: Final = (
    "aws:serverlessrepository/cloudFormationStack:CloudFormationStack",
    "aws:servicecatalog/provisionedProduct:ProvisionedProduct",
    "aws-native:servicecatalog:CloudFormationProvisionedProduct",
    azure_native("solutions", "Application"),
    "azure:managedapplication/application:Application",
)
"""Types that create the contents of a product or application, whose template is always stored elsewhere."""

_CARRIED: Final = re.compile(
    r"\w+::EKS::(Cluster|Nodegroup)|\w+::MODULE\b|AWS::Include\b|Microsoft\.(ContainerService|Kubernetes|RedHatOpenShift)\b"
    r"|AWS::Serverless::Application\b|AWS::ServiceCatalog::CloudFormationProvisionedProduct"
    r"|Microsoft\.Solutions\b(?!/applicationDefinitions)",
    re.IGNORECASE,
)
_LINKED: Final = re.compile(r"\btemplate(Url|Link|SpecVersionId)\b", re.IGNORECASE)
"""Inputs, and keys in templates, that refer to a template stored elsewhere."""


def check(resource: Resource, _: Context) -> Iterator[Finding]:
    """Reject such types of other packages, and such resources in templates or named by an input."""
    what = f"'{resource.name}' is of type {resource.type}"
    if any(re.fullmatch(token, resource.type) for token in PUBLISHED):
        yield Finding(
            f"{what} and creates the contents of a published template, which rules cannot see; "
            "expected its resources in the program."
        )
        return
    for token, path in CARRIERS.items():
        if re.fullmatch(token, resource.type):
            inputs, place = resource.props.at(*path[:-1]), resource.props.at(*path)
            content = json.dumps(place.raw, default=repr)
            linked = _LINKED.search(" ".join(inputs.keys())) or _LINKED.search(content)
            if found := _CARRIED.search(content):
                yield Finding(f"{what} and creates {found[0]}, which rules do not check there; expected {_EXPECTED}.")
            elif linked:
                yield Finding(
                    f"{what} and uses a template from {linked[0]}, which rules cannot see; expected it in {place.path}."
                )
            elif repr(UNKNOWN) in content:
                raise NotJudgeableError(place.path)
            return
    yield Finding(f"{what}, which rules do not check; expected {_EXPECTED}.")


_EXPECTED: Final = "a type of the packages aws, azure-native or kubernetes that the rules check"

RULE = Rule(
    id="HC-01",
    slug="types-are-read",
    title="Clusters, node groups and role bindings must have types that the rules check",
    severity=Severity.HIGH,
    level=MANDATORY_EVERYWHERE,
    source="Pulumi documentation, policy as code (a policy validates resources of the types that it names)",
    applies_to=resources_of(
        "each cluster, node group and role binding of another type, and each template that may contain one",
        *TWINS,
        *CARRIERS,
        *PUBLISHED,
    ),
    why="Each rule checks certain types only, so a cluster of another type passes unchecked.",
    fix="Use the type that the rules check, such as aws:eks/cluster:Cluster instead of aws-native:eks:Cluster, and put "
    "templates into the program.",
    check=check,
)
