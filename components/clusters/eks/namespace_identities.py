"""Cloud identities of user namespaces: an IAM role per namespace, which EKS Pod Identity gives to its accounts."""

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
from pulumi_aws.eks import PodIdentityAssociation

from components.base import PlatformComponent
from components.clusters.eks.identity import PodRole, ServiceRole, pod_role_args
from components.contract.eks.config import EksConfig
from components.contract.eks.identity import policy_statements
from components.contract.identity import JOBS_ACCOUNT, CloudIdentity
from components.contract.names import composed
from components.namespace_identity import NamespaceIdentity


@dataclass(frozen=True, kw_only=True)
class NamespaceIdentitiesArgs:
    """Inputs of the identities."""

    choices: EksConfig
    identities: Mapping[str, CloudIdentity]
    """By namespace."""
    cluster_name: pulumi.Input[str]
    cluster_arn: str


class NamespaceIdentities(PlatformComponent):
    """A role per namespace and an association per service account.

    The accounts need not exist yet, and should not: a pod that is admitted before its association never gets it.
    """

    by_namespace: Mapping[str, NamespaceIdentity]

    def __init__(self, name: str, args: NamespaceIdentitiesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("igz-clusters:clusters:EksNamespaceIdentities", name, None, opts)
        self.by_namespace = {
            namespace: self._identity(name, namespace, identity, args)
            for namespace, identity in args.identities.items()
        }
        self.register_outputs({"roles": {name: each.facts["roleArn"] for name, each in self.by_namespace.items()}})

    def _identity(
        self, name: str, namespace: str, identity: CloudIdentity, args: NamespaceIdentitiesArgs
    ) -> NamespaceIdentity:
        pod = PodRole(
            service_account=JOBS_ACCOUNT,
            other_accounts=identity.accounts,
            namespace=namespace,
            statements=policy_statements(args.choices, identity),
        )
        role = ServiceRole(
            f"{name}-{namespace}",
            pod_role_args(pod, args.cluster_arn, args.choices.permissions_boundary_arn),
            self.child(),
        )
        associations = [
            PodIdentityAssociation(
                f"{name}-{composed(namespace, account)}",
                cluster_name=args.cluster_name,
                namespace=namespace,
                service_account=account,
                role_arn=role.arn,
                opts=self.child(formerly=f"{name}-{namespace}-{account}", depends_on=[role]),
            )
            for account in identity.service_accounts
        ]
        return NamespaceIdentity(needed=tuple(associations), facts={"roleArn": role.arn})
