import io
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import pytest
from botocore.awsrequest import prepare_request_dict
from botocore.serialize import create_serializer

from emulators.aws.server.errors import AwsError
from emulators.aws.server.models import operation, protocol
from emulators.aws.server.requests import Request, read

RULE = {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "IpRanges": [{"CidrIp": "10.0.0.0/8"}]}


def sent(service: str, name: str, params: dict[str, Any]) -> Request:
    """Return a request as the server reads what botocore's own serialiser wrote."""
    model = operation(service, name)
    assert model is not None
    request = create_serializer(protocol(service), include_validation=False).serialize_to_request(params, model)
    prepare_request_dict(request, "http://127.0.0.1")
    body, headers = request["body"], request["headers"]
    if isinstance(body, dict):
        body = urlencode(body)
    return read(environ(service, request, body if isinstance(body, bytes) else body.encode(), headers))


def environ(service: str, request: Mapping[str, Any], body: bytes, headers: Mapping[str, str]) -> dict[str, Any]:
    signed = {"elb": "elasticloadbalancing", "elbv2": "elasticloadbalancing"}.get(service, service)
    return {
        "REQUEST_METHOD": request["method"],
        "REQUEST_URI": request["url"].removeprefix("http://127.0.0.1"),
        "CONTENT_TYPE": headers.get("Content-Type", ""),
        "CONTENT_LENGTH": str(len(body)),
        "HTTP_X_AMZ_TARGET": headers.get("X-Amz-Target", ""),
        "HTTP_AUTHORIZATION": f"AWS4-HMAC-SHA256 Credential=k/20261121/eu-west-1/{signed}/aws4_request, Signature=x",
        "wsgi.input": io.BytesIO(body),
    }


@pytest.mark.parametrize(
    ("service", "name", "params"),
    [
        ("ec2", "CreateVpc", {"CidrBlock": "10.0.0.0/16", "AmazonProvidedIpv6CidrBlock": False}),
        ("ec2", "AuthorizeSecurityGroupIngress", {"GroupId": "sg-1", "IpPermissions": [RULE, RULE]}),
        (
            "ec2",
            "CreateLaunchTemplate",
            {"LaunchTemplateName": "t", "LaunchTemplateData": {"BlockDeviceMappings": [{"Ebs": {"VolumeSize": 5}}]}},
        ),
        ("ec2", "DescribeSubnets", {"SubnetIds": [f"subnet-{n}" for n in range(12)]}),
        ("ec2", "ModifyVpcAttribute", {"VpcId": "vpc-1", "EnableDnsSupport": {"Value": True}}),
        ("autoscaling", "CreateOrUpdateTags", {"Tags": [{"ResourceId": "g", "Key": "k", "PropagateAtLaunch": True}]}),
        ("autoscaling", "DescribeAutoScalingGroups", {"AutoScalingGroupNames": []}),
        ("iam", "TagRole", {"RoleName": "r", "Tags": [{"Key": "k", "Value": "a&b=c, ü"}]}),
        ("elbv2", "DescribeLoadBalancers", {"Names": ["a", "b"]}),
        ("elb", "DescribeLoadBalancers", {"LoadBalancerNames": ["a"]}),
        ("kms", "CreateKey", {"Tags": [{"TagKey": "k", "TagValue": "v"}], "MultiRegion": False}),
        ("logs", "PutRetentionPolicy", {"logGroupName": "/a", "retentionInDays": 7}),
        (
            "eks",
            "CreateNodegroup",
            {
                "clusterName": "c",
                "nodegroupName": "g",
                "nodeRole": "r",
                "subnets": ["s"],
                "scalingConfig": {"minSize": 0, "maxSize": 3},
                "labels": {"a/b": "c"},
            },
        ),
        ("eks", "DescribeAccessEntry", {"clusterName": "c", "principalArn": "arn:aws:iam::111122223333:role/a/b"}),
        (
            "eks",
            "UntagResource",
            {"resourceArn": "arn:aws:eks:eu-west-1:111122223333:cluster/c", "tagKeys": ["a", "b"]},
        ),
        ("eks", "DeleteAddon", {"clusterName": "c", "addonName": "vpc-cni", "preserve": True}),
        ("eks", "ListClusters", {"maxResults": 5}),
    ],
)
def test_what_boto3_writes_is_read_back_whole(service: str, name: str, params: dict[str, Any]) -> None:
    request = sent(service, name, params)
    assert (request.operation, request.params) == (f"{service}:{name}", params)


@pytest.mark.parametrize(
    ("service", "name", "params", "about"),
    [
        ("eks", "DescribeNodegroup", {"clusterName": "dev", "nodegroupName": "gpu"}, "dev/gpu"),
        ("ec2", "CreateTags", {"Resources": ["vpc-1"], "Tags": [{"Key": "Name", "Value": "v"}]}, "vpc-1"),
        ("iam", "AttachRolePolicy", {"RoleName": "r", "PolicyArn": "arn:p"}, "r/arn:p"),
        ("autoscaling", "DeleteTags", {"Tags": [{"ResourceId": "g", "Key": "k"}]}, "g"),
        ("ec2", "DescribeVpcs", {}, ""),
    ],
)
def test_a_request_says_what_it_is_about(service: str, name: str, params: dict[str, Any], about: str) -> None:
    assert sent(service, name, params).about == about


def test_the_body_can_be_read_once_more() -> None:
    given = environ("kms", {"method": "POST", "url": "/"}, b"{}", {"X-Amz-Target": "TrentService.ListKeys"})
    read(given)
    assert given["wsgi.input"].read() == b"{}"


@pytest.mark.parametrize(
    ("method", "url", "body", "headers", "code"),
    [
        ("GET", "/clusters/a/b/c/d", b"", {}, "UnknownOperationException"),
        ("POST", "/clusters", b"{", {}, "SerializationException"),
        ("POST", "/clusters", b"[]", {}, "SerializationException"),
        ("POST", "/", b"{}", {"X-Amz-Target": "TrentService.Explode"}, "UnknownOperationException"),
        ("POST", "/", b"{}", {"X-Amz-Target": "Nobody.ListKeys"}, "UnknownOperationException"),
        (
            "POST",
            "/",
            b"Action=Explode&Version=2016-11-15",
            {"Content-Type": "application/x-www-form-urlencoded"},
            "UnknownOperationException",
        ),
    ],
)
def test_what_no_service_has_is_refused(
    method: str, url: str, body: bytes, headers: Mapping[str, str], code: str
) -> None:
    with pytest.raises(AwsError) as caught:
        read(environ("ec2", {"method": method, "url": url}, body, headers))
    assert caught.value.code == code
