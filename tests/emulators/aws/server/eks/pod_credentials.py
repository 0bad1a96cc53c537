"""EKS Auth: what the agent on a node asks for with the token of a pod, and gets the credentials of its role.

The service knows one operation (botocore 1.44, ``data/eks-auth/2023-11-26``). The token's signature is not checked,
as no key of a cluster is known; the token is otherwise as in
https://docs.aws.amazon.com/eks/latest/userguide/pod-id-how-it-works.html.
"""

import base64
import json
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from moto.backends import get_backend

from emulators.aws.server import ACCOUNT, REGION
from emulators.aws.server.eks import account
from emulators.aws.server.eks.pod_identity import find_association
from emulators.aws.server.eks.refusals import not_found
from emulators.aws.server.eks.store import Request, Store, arn
from emulators.aws.server.errors import AwsError

AUDIENCE: Final = "pods.eks.amazonaws.com"
SESSION: Final = timedelta(hours=6)
"""How long credentials are valid: https://docs.aws.amazon.com/eks/latest/userguide/pod-id-how-it-works.html."""

_SUBJECT: Final = "system:serviceaccount:"


class PodCredentials:
    """Credentials of roles for pods."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def operations(self) -> Mapping[str, Callable[[Request], dict[str, Any]]]:
        """Return what handles each operation."""
        return {"AssumeRoleForPodIdentity": self.assume}

    def assume(self, request: Request) -> dict[str, Any]:
        """Give a pod the credentials of the role that its service account has by an association."""
        cluster = self._store.cluster(request["clusterName"])
        namespace, service_account = _subject(request["token"])
        association = find_association(cluster, namespace, service_account)
        if association is None:
            raise not_found(f"No association found for {namespace}/{service_account} in cluster {cluster.name}")
        role = association.body["roleArn"]
        tags = {
            "eks-cluster-arn": arn("cluster", cluster.name),
            "eks-cluster-name": cluster.name,
            "kubernetes-namespace": namespace,
            "kubernetes-service-account": service_account,
        }
        if not account.trusts_pod(role, {f"aws:RequestTag/{key}": value for key, value in tags.items()}):
            raise AwsError(
                "AccessDeniedException", 400, f"The role {role} does not trust {namespace}/{service_account}"
            )
        sts = get_backend("sts")[ACCOUNT]["aws"]
        made = sts.assume_role(REGION, f"eks-{cluster.name}"[:64], role, "", int(SESSION.total_seconds()), "")
        return {
            "subject": {"namespace": namespace, "serviceAccount": service_account},
            "audience": AUDIENCE,
            "podIdentityAssociation": {key: association.body[key] for key in ("associationArn", "associationId")},
            "assumedRoleUser": {"arn": made.arn, "assumeRoleId": made.user_id},
            "credentials": {
                "accessKeyId": made.access_key_id,
                "secretAccessKey": made.secret_access_key,
                "sessionToken": made.session_token,
                "expiration": datetime.now(UTC) + SESSION,
            },
        }


def _subject(token: str) -> tuple[str, str]:
    """Return namespace and service account of a pod's token, or refuse it."""
    try:
        part = token.split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except (ValueError, IndexError):
        raise AwsError("InvalidTokenException", 400, "The token is not a JSON Web Token") from None
    audiences, subject = claims.get("aud", []), str(claims.get("sub", ""))
    if AUDIENCE not in audiences or not subject.startswith(_SUBJECT) or subject.count(":") != _SUBJECT.count(":") + 1:
        raise AwsError("InvalidTokenException", 400, "The token is of no service account, or not for Pod Identity")
    if claims.get("exp", 0) < time.time():
        raise AwsError("ExpiredTokenException", 400, "The token has expired")
    namespace, _, name = subject.removeprefix(_SUBJECT).partition(":")
    return namespace, name
