"""Identities that Iguazio's installer needs in a cloud, according to Iguazio's public documentation."""

from typing import Any, Final

from components.contract.environments import Provider

_AWS: Final = "https://www.iguazio.com/docs/latest-release/cluster-mgmt/deployment/cloud/aws/howto"

_POLICY: Final = "ManageIguazioSystems"
"""Name that both pages recommend."""

_DOCUMENTED: Final[dict[Provider, tuple[dict[str, Any], ...]]] = {
    Provider.AWS: (
        {
            "choose": "either an IAM user",
            "name": "Provazio",
            "access": "programmatic only",
            "policies": [_POLICY],
            "policyFile": "provazio-eks.json, from Iguazio, with the number of the account",
            "keep": "after the installation too: the platform uses it",
            "source": f"{_AWS}/aws-user-based-cfg/",
        },
        {
            "choose": "or an IAM role",
            "name": "IguazioDataScienceNode",
            "access": "instance profile of an EC2 machine with Docker, from which the installer runs",
            "policies": [_POLICY],
            "rights": "ec2:*, elasticloadbalancing:*, cloudwatch:* and autoscaling:* on all resources, among others; "
            "use an account of its own",
            "metadataHopLimit": 2,  # the installer is a container; HN-01 allows it
            "source": f"{_AWS}/aws-role-based-cfg/",
        },
    ),
}


def identities(provider: Provider) -> tuple[dict[str, Any], ...]:
    """Return the documented identities of a cloud, or an entry that none is known."""
    where = {Provider.AZURE: "Azure", Provider.OWN: "machines of your own"}.get(provider, provider)
    return _DOCUMENTED.get(provider) or (
        {
            "choose": f"not known: Iguazio's public documentation names no identity for {where}",
            "todo": "ask Iguazio's support for the identity, its rights, and where it is kept",
        },
    )
