"""Kubeconfig of the cluster, without secrets."""

import base64
import json
from collections.abc import Sequence
from typing import Any, Final

import pulumi
import yaml
from pulumi_azure_native.containerservice import ManagedCluster, list_managed_cluster_user_credentials_output
from pulumi_azure_native.containerservice.outputs import CredentialResultResponse

from components.contract.aks.config import AksConfig

ENTRA_SERVER: Final = "6dae42f8-4368-4678-94ff-3960e28e3630"
"""Entra ID application of all AKS clusters, for which tokens are issued: https://azure.github.io/kubelogin/concepts/aks.html."""

LOGIN: Final = "azurecli"
"""Default login method: the Azure CLI's session, which needs no prompt and no token cache (``AAD_LOGIN_METHOD``).

https://azure.github.io/kubelogin/cli/get-token.html
"""


def kubeconfig(
    choices: AksConfig, cluster: ManagedCluster, provider: pulumi.ProviderResource, access: Sequence[pulumi.Resource]
) -> pulumi.Output[str]:
    """Return a kubeconfig that requests each token from kubelogin.

    Only Azure's API returns address and certificate authority, to principals that may use the cluster. Until the
    cluster exists its id is unknown, so a first preview makes no request.

    Parameters
    ----------
    choices
        The cluster's choices.
    cluster
        The cluster itself.
    provider
        Provider for the request to Azure.
    access
        Resources that must exist before the request is allowed.
    """
    answer = list_managed_cluster_user_credentials_output(
        format="exec",
        resource_group_name=cluster.id.apply(lambda _: choices.resource_group),
        resource_name=cluster.id.apply(lambda _: choices.name),
        opts=pulumi.InvokeOutputOptions(provider=provider, depends_on=list(access)),
    )
    # Address and certificate authority are not secret, although the provider marks the whole result as secret.
    return pulumi.Output.unsecret(answer.apply(lambda known: _document(choices, known.kubeconfigs)))


def _document(choices: AksConfig, credentials: Sequence[CredentialResultResponse]) -> str:
    theirs: dict[str, Any] = yaml.safe_load(base64.b64decode(credentials[0].value))
    cluster = theirs["clusters"][0]["cluster"]
    name = choices.name
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [
                {
                    "name": name,
                    "cluster": {key: cluster[key] for key in ("server", "certificate-authority-data")},
                }
            ],
            "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
            "current-context": name,
            "users": [
                {
                    "name": name,
                    "user": {
                        "exec": {
                            "apiVersion": "client.authentication.k8s.io/v1beta1",
                            "command": "kubelogin",
                            "args": [
                                *("get-token", "--login", LOGIN),
                                *("--server-id", ENTRA_SERVER, "--tenant-id", choices.tenant_id),
                            ],
                            "interactiveMode": "Never",
                        }
                    },
                }
            ],
        },
        sort_keys=True,
    )
