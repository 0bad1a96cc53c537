"""What AWS does by itself after it has answered, and moto leaves out: states over time, and what goes with a thing."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from workbench.clouds.aws.double.server import store
from workbench.clouds.aws.double.server.clock import Clock
from workbench.clouds.aws.double.server.requests import Request

Consequence = Callable[[Request, Mapping[str, Any], Clock], None]


def has_consequence(request: Request) -> bool:
    """Return whether ``follow`` does anything after such a request."""
    return request.operation in _CONSEQUENCES


def follow(request: Request, answer: Mapping[str, Any], clock: Clock) -> None:
    """Do what follows from a request that was granted.

    Parameters
    ----------
    answer
        Members of the answer.
    """
    _CONSEQUENCES[request.operation](request, answer, clock)


def _nat_gateway_made(request: Request, answer: Mapping[str, Any], clock: Clock) -> None:
    gateway = store.ec2().nat_gateways[answer["NatGateway"]["NatGatewayId"]]
    gateway.state = "pending"
    clock.later(request.operation, lambda: setattr(gateway, "state", "available"))


def _nat_gateway_deleted(request: Request, answer: Mapping[str, Any], clock: Clock) -> None:
    gateway = store.ec2().nat_gateways[answer["NatGatewayId"]]
    gateway.state = "deleting"

    def gone() -> None:
        interface = gateway._eni  # noqa: SLF001 moto tells it to nobody
        for address in store.ec2().addresses:
            if address.eni is interface:
                store.ec2().disassociate_address(association_id=address.association_id)
        store.ec2().enis.pop(interface.id, None)
        gateway.state = "deleted"

    clock.later(request.operation, gone)


def _endpoint_made(request: Request, answer: Mapping[str, Any], clock: Clock) -> None:
    ec2 = store.ec2()
    endpoint = ec2.vpc_end_points[answer["VpcEndpoint"]["VpcEndpointId"]]
    for interface in endpoint.network_interface_ids:
        ec2.modify_network_interface_attribute(interface, endpoint.security_group_ids)
    if endpoint.network_interface_ids:
        endpoint.state = "pending"
        clock.later(request.operation, lambda: setattr(endpoint, "state", "available"))


def _endpoints_deleted(request: Request, _answer: Mapping[str, Any], clock: Clock) -> None:
    endpoints = store.ec2().vpc_end_points
    for id_ in request.params["VpcEndpointIds"]:
        if endpoint := endpoints.get(id_):
            endpoint.state = "deleting"
            clock.later(request.operation, lambda id_=id_: endpoints.pop(id_, None))


_CONSEQUENCES: Final[Mapping[str, Consequence]] = {
    "ec2:CreateNatGateway": _nat_gateway_made,
    "ec2:CreateVpcEndpoint": _endpoint_made,
    "ec2:DeleteNatGateway": _nat_gateway_deleted,
    "ec2:DeleteVpcEndpoints": _endpoints_deleted,
}
