"""Service accounts of a user namespace whose pods have its cloud identity."""

from dataclasses import dataclass

import pulumi
from pulumi_kubernetes.core.v1 import ServiceAccount

from components.base import PlatformComponent
from components.contract.identity import JOBS_ACCOUNT, CloudIdentity
from components.contract.names import composed
from components.namespace_identity import NamespaceIdentity
from components.ownership import owned


@dataclass(frozen=True, kw_only=True)
class JobAccountsArgs:
    """Inputs of the accounts."""

    namespace: str
    choices: CloudIdentity
    identity: NamespaceIdentity
    """What the cloud created for it."""


class JobAccounts(PlatformComponent):
    """The accounts, created after the identity that their pods need at admission."""

    def __init__(self, name: str, args: JobAccountsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("igz-clusters:scheduling:JobAccounts", name, None, opts)
        for account in args.choices.service_accounts:
            ServiceAccount(
                composed(args.namespace, account),
                metadata=owned(account, namespace=args.namespace, annotations=args.identity.annotations or None),
                # Jobs need no rights in the cluster. Pods of listed accounts may need some: Kubernetes' default stays.
                automount_service_account_token=False if account == JOBS_ACCOUNT else None,
                opts=self.child(formerly=f"{args.namespace}-{account}", depends_on=list(args.identity.needed)),
            )
        self.register_outputs({})
