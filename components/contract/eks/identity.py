"""The IAM policy of a namespace's jobs: what their identity grants, and nothing else."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from components.contract.aws import account_of, key_region
from components.contract.constraint_violation import Mismatch
from components.contract.eks.config import EksConfig
from components.contract.identity import Access, BucketGrant, CloudIdentity, RepositoryGrant, other_clouds

KEYS: Final = ("buckets", "repositories", "keys")
"""Keys of an identity that are allowed on EKS."""

POLICY_MAX: Final = 10_240
"""Maximum length of a role's inline policies, in characters without white space.

https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
"""

NAMESPACE_MAX: Final = 40
"""Maximum length of the name of a namespace with an identity, which is part of the role's name.

IAM allows 64 characters, of which 24 remain for the stack's name, ``-jobs-`` and the suffix that Pulumi appends.
https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
"""

READ_OBJECTS: Final = ("s3:GetObject",)
WRITE_OBJECTS: Final = ("s3:AbortMultipartUpload", "s3:DeleteObject", "s3:ListMultipartUploadParts", "s3:PutObject")
"""Actions on objects: https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazons3.html."""

LIST_OBJECTS: Final = "s3:ListBucket"
"""Action on a bucket; the condition key ``s3:prefix`` restricts it.

Without this action, a request for a missing object returns 403, not 404. HeadBucket sends no prefix and is refused if
one is required (assumed).
"""

READ_IMAGES: Final = ("ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer")
WRITE_IMAGES: Final = ("ecr:CompleteLayerUpload", "ecr:InitiateLayerUpload", "ecr:PutImage", "ecr:UploadLayerPart")
"""Actions on repositories: https://docs.aws.amazon.com/AmazonECR/latest/userguide/image-push-iam.html."""

LOG_IN_TO_ECR: Final = "ecr:GetAuthorizationToken"
"""Action that cannot be limited to a resource; the token has the rights of the caller."""


def identity_problems(choices: EksConfig, identities: Mapping[str, CloudIdentity]) -> Iterator[Mismatch]:
    """Find what AWS would refuse in the identities, by namespace; paths begin at the namespaces."""
    for namespace, identity in identities.items():
        yield from other_clouds(namespace, identity, KEYS, "EKS")
        for message in _namespace_problems(choices, namespace, identity):
            yield Mismatch((namespace, "identity"), message)
        for index, key in enumerate(identity.keys):
            if problem := _key_problem(choices, key):
                yield Mismatch((namespace, "identity", "keys", index), problem)


def _namespace_problems(choices: EksConfig, namespace: str, identity: CloudIdentity) -> Iterator[str]:
    if len(namespace) > NAMESPACE_MAX:
        yield (
            f"on EKS a namespace with an identity must have at most {NAMESPACE_MAX} characters in its name, which is "
            f"part of the name of an IAM role, given {len(namespace)}; rename it"
        )
    length = len(json.dumps(policy_statements(choices, identity), separators=(",", ":")))
    if length > POLICY_MAX:
        yield f"needs an IAM policy of about {length} characters, AWS allows {POLICY_MAX}; grant shorter prefixes"


def _key_problem(choices: EksConfig, key: str) -> str | None:
    if key_region(key) != choices.region:
        return f"is a key of another region; buckets of {choices.region} are encrypted with keys of that region"
    if account_of(key) != choices.account_id:
        return f"is a key of another account than cluster.accountId; use a key of {choices.account_id}"
    return None


def policy_statements(choices: EksConfig, identity: CloudIdentity) -> list[dict[str, Any]]:
    """Return the statements of the policy.

    They name objects by bucket and prefix, and allow listing below the prefixes only, and keys through S3 only.
    """
    return [*_objects(identity.buckets), *_keys(choices, identity), *_images(choices, identity.repositories)]


def _objects(buckets: Sequence[BucketGrant]) -> Iterator[dict[str, Any]]:
    writes = [each for each in buckets if each.access is Access.WRITE]
    for actions, grants in ((READ_OBJECTS, buckets), (WRITE_OBJECTS, writes)):
        if grants:
            yield _allow(actions, [f"{_bucket_arn(each.bucket)}/{each.prefix}*" for each in grants])
    for bucket in dict.fromkeys(each.bucket for each in buckets):
        prefixes = [each.prefix for each in buckets if each.bucket == bucket]
        below = [text for prefix in prefixes for text in (prefix, f"{prefix}*")]
        condition = {} if "" in prefixes else {"Condition": {"StringLike": {"s3:prefix": below}}}
        yield {**_allow([LIST_OBJECTS], [_bucket_arn(bucket)]), **condition}


def _keys(choices: EksConfig, identity: CloudIdentity) -> Iterator[dict[str, Any]]:
    if identity.keys:
        writes = any(each.access is Access.WRITE for each in identity.buckets)
        actions = ["kms:Decrypt", *(["kms:GenerateDataKey"] if writes else [])]
        through = {"StringEquals": {"kms:ViaService": f"s3.{choices.region}.amazonaws.com"}}
        yield {**_allow(actions, identity.keys), "Condition": through}


def _images(choices: EksConfig, repositories: Sequence[RepositoryGrant]) -> Iterator[dict[str, Any]]:
    writes = [each for each in repositories if each.access is Access.WRITE]
    for actions, grants in ((READ_IMAGES, repositories), (WRITE_IMAGES, writes)):
        if grants:
            folder = f"arn:aws:ecr:{choices.region}:{choices.account_id}:repository"
            yield _allow(actions, [f"{folder}/{each.repository}" for each in grants])
    if repositories:
        yield _allow([LOG_IN_TO_ECR], ["*"])


def _bucket_arn(bucket: str) -> str:
    return f"arn:aws:s3:::{bucket}"


def _allow(actions: Iterable[str], resources: Iterable[str]) -> dict[str, Any]:
    return {"Effect": "Allow", "Action": list(actions), "Resource": list(resources)}
