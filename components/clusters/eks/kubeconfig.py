"""Kubeconfig of the cluster, without secrets."""

import json

import pulumi


def kubeconfig(
    cluster_name: str, region: str, endpoint: pulumi.Input[str], certificate_authority: pulumi.Input[str]
) -> pulumi.Output[str]:
    """Return a kubeconfig that gets its tokens from the AWS CLI.

    It contains only a name, an address and a public certificate.
    """
    return pulumi.Output.all(endpoint, certificate_authority).apply(
        lambda known: _document(cluster_name, region, *known)
    )


def _document(cluster_name: str, region: str, endpoint: str, certificate_authority: str) -> str:
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [
                {
                    "name": cluster_name,
                    "cluster": {"server": endpoint, "certificate-authority-data": certificate_authority},
                }
            ],
            "contexts": [{"name": cluster_name, "context": {"cluster": cluster_name, "user": cluster_name}}],
            "current-context": cluster_name,
            "users": [
                {
                    "name": cluster_name,
                    "user": {
                        "exec": {
                            # The version that `aws eks update-kubeconfig` writes.
                            "apiVersion": "client.authentication.k8s.io/v1beta1",
                            "command": "aws",
                            "args": ["eks", "get-token", "--cluster-name", cluster_name, "--region", region],
                            "interactiveMode": "Never",
                        }
                    },
                }
            ],
        },
        sort_keys=True,
    )
