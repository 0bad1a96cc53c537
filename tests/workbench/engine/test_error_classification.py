"""Which errors of the engine have a next step that their text does not tell."""

import pytest

from workbench.engine.error_classification import (
    is_busy,
    is_expired,
    is_in_use,
    is_name_taken,
    is_outcome_unknown,
    is_propagating,
)

OTHERS = [
    "operation error EKS: CreateNodegroup, https response error StatusCode: 403, AccessDeniedException: no rights",
    "ThrottlingException: Rate exceeded",
    "the session manager plug-in is not found",
    "creating EKS Cluster: ResourceInUseException",
]


@pytest.mark.parametrize(
    "error",
    [
        "operation error EC2: DescribeVpcs, api error RequestExpired: Request has expired.",
        "operation error STS: GetCallerIdentity, api error ExpiredToken: The security token is expired",
        "api error ExpiredTokenException: the security token included in the request is expired",
        "Error when retrieving token from sso: Token has expired and refresh failed",
        "refresh cached SSO token failed, unable to refresh SSO token",
        "your credentials have expired",
        "AADSTS700082: The refresh token has expired due to inactivity.",
        'Status=401 Code="ExpiredAuthenticationToken" Message="The access token expiry UTC time is earlier"',
        "Please run 'az login' to setup account.",
    ],
)
def test_credentials_that_ran_out_are_told_from_everything_else(error: str) -> None:
    assert is_expired(["something else", error])
    assert not is_expired(OTHERS)


def test_only_what_is_still_used_is_worth_another_try() -> None:
    assert is_in_use(["deleting EC2 VPC (vpc-1): api error DependencyViolation: The vpc 'vpc-1' has dependencies"])
    assert is_in_use(['Status=400 Code="InUseSubnetCannotBeDeleted" Message="Subnet nodes is in use by a scale set"'])
    assert not is_in_use(OTHERS)


@pytest.mark.parametrize(
    "code",
    [
        "CustomKubeletIdentityMissingPermissionError",
        "AzureKeyVaultKmsValidateIdentityPermissionCustomerError",
        "LinkedAuthorizationFailed",
        "CustomPrivateDNSZoneMissingPermissionError",
        "UserErrorBackupStorageLocationNotReady",
        "UserErrorExtensionMSIMissingPermissionsOnBackupStorageLocation",
        "KubernetesBackupListExtensionsError",
    ],
)
def test_a_role_that_may_not_hold_yet_is_told_from_other_refusals(code: str) -> None:
    assert is_propagating([f'Status=400 Code="{code}" Message="no permission"'])
    assert not is_propagating([*OTHERS, 'Status=403 Code="AuthorizationFailed" Message="no rights"'])


def test_a_cloud_that_is_at_something_else_is_told_from_a_refusal() -> None:
    busy = "Operation is not allowed: Another agentpool operation (gpu - Creating) is in progress, please wait"
    assert is_busy([f'Status=409 Code="OperationNotAllowed" Message="{busy}"'])
    assert not is_busy(
        [*OTHERS, 'Status=409 Code="OperationNotAllowed" Message="Operation results in exceeding quota"']
    )


@pytest.mark.parametrize(
    "refusal",
    [
        "operation error IAM: CreateRole, EntityAlreadyExists: Role with name dev-nodes-0a1b2c3 already exists.",
        "operation error EKS: CreateCluster, ResourceInUseException: Cluster already exists with name: mlrun-dev",
        "operation error KMS: CreateAlias, AlreadyExistsException: An alias with the name arn:aws:kms:a already exists",
        "ResourceAlreadyExistsException: The specified log group already exists",
        "api error RouteAlreadyExists: The route identified by 0.0.0.0/0 already exists.",
        "cannot create already existing resource '/subscriptions/s/resourceGroups/research'",
        "ResourceInUseException: The specified access entry resource is already in use on this cluster.",
    ],
)
def test_a_name_that_something_has_may_be_our_own_doing(refusal: str) -> None:
    assert is_name_taken(["something else", f"creating it: {refusal}"])
    assert not is_name_taken(OTHERS)


@pytest.mark.parametrize(
    "error",
    [
        "Detected that pulumi-resource-aws exited prematurely. \nThis is *always* a bug in the provider.",
        "error reading from server: EOF",
        'Put "https://management.azure.com/subscriptions/s/resourceGroups/g?api-version=2024-03-01": EOF',
        "operation error EKS: CreateNodegroup, https response error StatusCode: 0, RequestID: , request send failed",
    ],
)
def test_a_call_whose_answer_nobody_heard_is_known(error: str) -> None:
    assert is_outcome_unknown(["something else", error])
    assert not is_outcome_unknown(
        [*OTHERS, "https response error StatusCode: 403, RequestID: , AccessDeniedException: no"]
    )
