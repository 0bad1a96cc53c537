"""What moto leaves out of what it does: states over time, what comes and goes with a thing, members of answers."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from emulators.aws.server import file_systems, schedules, store
from emulators.aws.server.autoscaling import release_interfaces
from emulators.aws.server.references import has_internet_gateway
from emulators.aws.server.requests import Request
from emulators.core.clock import Clock

ROTATION_DAYS: Final = 365
"""Default of KMS: https://docs.aws.amazon.com/kms/latest/APIReference/API_EnableKeyRotation.html."""

Consequence = Callable[[Request, dict[str, Any], Clock], None]


def has_consequence(request: Request) -> bool:
    """Return whether ``follow`` does anything after such a request."""
    return request.operation in _CONSEQUENCES


def follow(request: Request, answer: dict[str, Any], clock: Clock) -> None:
    """Do what follows from a request that was granted.

    Parameters
    ----------
    answer
        Members of the answer; what is added to them is sent, if the service speaks JSON.
    """
    _CONSEQUENCES[request.operation](request, answer, clock)


def _vpc_made(_request: Request, answer: dict[str, Any], _clock: Clock) -> None:
    # The default group lets its members talk to each other.
    group = store.ec2().get_default_security_group(answer["Vpc"]["VpcId"])
    if group:
        members = [{"GroupId": group.id, "OwnerId": group.owner_id}]
        store.ec2().authorize_security_group_ingress(group.id, "-1", None, None, [], source_groups=members)


def _launch_template_made(_request: Request, answer: dict[str, Any], _clock: Clock) -> None:
    # The tags of the template itself are not part of its data for instances.
    data = store.ec2().launch_templates[answer["LaunchTemplate"]["LaunchTemplateId"]].latest_version().data
    others = [each for each in data.pop("TagSpecifications", []) if each["ResourceType"] != "launch-template"]
    if others:
        data["TagSpecifications"] = others


def _tags_changed(request: Request, _answer: dict[str, Any], _clock: Clock) -> None:
    # moto describes a launch template with the tags that it was made with.
    for id_ in request.params["Resources"]:
        if template := store.ec2().launch_templates.get(id_):
            template.tags = template.get_tags()


def _rotation_enabled(request: Request, _answer: dict[str, Any], _clock: Clock) -> None:
    key = store.kms().keys[store.kms().get_key_id(request.params["KeyId"])]
    setattr(key, _PERIOD, request.params.get("RotationPeriodInDays", ROTATION_DAYS))


def _rotation_told(request: Request, answer: dict[str, Any], _clock: Clock) -> None:
    key = store.kms().keys[store.kms().get_key_id(request.params["KeyId"])]
    if answer["KeyRotationEnabled"]:
        answer["RotationPeriodInDays"] = getattr(key, _PERIOD, ROTATION_DAYS)


def _nat_gateway_made(request: Request, answer: dict[str, Any], clock: Clock) -> None:
    gateway = store.ec2().nat_gateways[answer["NatGateway"]["NatGatewayId"]]
    has_way_out = has_internet_gateway(gateway.vpc_id)
    gateway.state = "pending"

    def made() -> None:
        if has_way_out:
            gateway.state = "available"
            return
        _release(gateway)
        gateway.state, gateway.failure_code = "failed", "Gateway.NotAttached"
        gateway.failure_message = f"Network {gateway.vpc_id} has no Internet gateway attached"

    clock.later(request.operation, made)


def _nat_gateway_deleted(request: Request, answer: dict[str, Any], clock: Clock) -> None:
    gateway = store.ec2().nat_gateways[answer["NatGatewayId"]]
    gateway.state = "deleting"

    def gone() -> None:
        _release(gateway)
        gateway.state = "deleted"

    clock.later(request.operation, gone)


def _release(gateway: Any) -> None:
    """Take from a NAT gateway its network interface and its address."""
    interface = gateway._eni
    for address in store.ec2().addresses:
        if address.eni is interface:
            store.ec2().disassociate_address(association_id=address.association_id)
    store.ec2().enis.pop(interface.id, None)


def _endpoint_made(request: Request, answer: dict[str, Any], clock: Clock) -> None:
    ec2 = store.ec2()
    endpoint = ec2.vpc_end_points[answer["VpcEndpoint"]["VpcEndpointId"]]
    endpoint.vpc_endpoint_type = endpoint.vpc_endpoint_type or "Gateway"
    for interface in endpoint.network_interface_ids:
        ec2.modify_network_interface_attribute(interface, endpoint.security_group_ids)
    if endpoint.network_interface_ids:
        endpoint.state = "pending"
        clock.later(request.operation, lambda: setattr(endpoint, "state", "available"))


def _endpoints_deleted(request: Request, _answer: dict[str, Any], clock: Clock) -> None:
    endpoints = store.ec2().vpc_end_points
    going = [id_ for id_ in request.params["VpcEndpointIds"] if id_ in endpoints]
    for id_ in going:
        endpoints[id_].state = "deleting"

    def gone() -> None:
        for id_ in going:
            endpoints.pop(id_, None)

    clock.later(request.operation, gone)


def _instances_gone(_request: Request, _answer: dict[str, Any], _clock: Clock) -> None:
    release_interfaces()


_PERIOD: Final = "rotation_period_in_days"
"""Where the emulator notes the period on moto's key, which has no place for it."""

_CONSEQUENCES: Final[Mapping[str, Consequence]] = {
    "autoscaling:DeleteScheduledAction": lambda request, _answer, _clock: schedules.deleted(request.params),
    "autoscaling:PutScheduledUpdateGroupAction": lambda request, _answer, _clock: schedules.put(request.params),
    "autoscaling:SetDesiredCapacity": _instances_gone,
    "autoscaling:TerminateInstanceInAutoScalingGroup": _instances_gone,
    "autoscaling:UpdateAutoScalingGroup": _instances_gone,
    "ec2:CreateLaunchTemplate": _launch_template_made,
    **dict.fromkeys(("ec2:CreateTags", "ec2:DeleteTags"), _tags_changed),
    "ec2:CreateNatGateway": _nat_gateway_made,
    "ec2:CreateVpc": _vpc_made,
    "ec2:CreateVpcEndpoint": _endpoint_made,
    "ec2:DeleteNatGateway": _nat_gateway_deleted,
    "ec2:DeleteVpcEndpoints": _endpoints_deleted,
    "ec2:TerminateInstances": _instances_gone,
    "efs:CreateFileSystem": file_systems.made,
    "efs:CreateMountTarget": file_systems.mounted,
    "kms:EnableKeyRotation": _rotation_enabled,
    "kms:GetKeyRotationStatus": _rotation_told,
}
