"""Label by which a cloud recognises pods that get the identity of their service account, set by the API server."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import pulumi

from components.base import PlatformComponent
from components.contract.placement import set_entry
from components.scheduling.policy_objects import USER_NAMESPACES, declare_mutation, resources, variables

NAME: Final = "igz-cloud-identity"


@dataclass(frozen=True, kw_only=True)
class IdentityLabelArgs:
    """Inputs of the label."""

    label: tuple[str, str]
    """Key and value."""
    accounts: Mapping[str, tuple[str, ...]]
    """Service accounts with an identity, by namespace."""


class IdentityLabel(PlatformComponent):
    """A mutation of new pods with such an account; mutating webhooks of the cloud run after it and see the label.

    The API server runs mutating policies before webhooks: kubernetes/kubernetes v1.36,
    ``pkg/kubeapiserver/options/plugins.go``.
    """

    def __init__(self, name: str, args: IdentityLabelArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("igz-clusters:scheduling:IdentityLabel", name, None, opts)
        key, value = args.label
        accounts = {namespace: list(names) for namespace, names in args.accounts.items()}
        declare_mutation(
            self,
            NAME,
            {
                "matchConstraints": {"resourceRules": [resources("", ["pods"], "CREATE")], **USER_NAMESPACES},
                "matchConditions": [
                    {
                        "name": "account-has-an-identity",
                        # Match conditions have no namespaceObject.
                        "expression": f"object.spec.?serviceAccountName.orValue('') in"
                        f" {accounts}[?request.namespace].orValue([])",
                    }
                ],
                "variables": variables({"template": "object", "path": "''"}),
            },
            set_entry("metadata", "labels", key, repr(value)),
        )
        self.register_outputs({})
