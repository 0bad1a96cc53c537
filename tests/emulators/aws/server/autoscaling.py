"""The Auto Scaling group of a node group, in moto's own store: its size, its tags and its instances are AWS's own.

EKS makes the group and removes it; clients of Auto Scaling and EC2 see it there. Its instances are launched from a
launch template of EKS's own, as AWS does it, because that of the caller names no image.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from emulators.aws.server import store

IMAGE: Final = "ami-12c6146b"
"""An image of moto's own; which one does not matter, as nothing ever boots."""

MADE_BY_EKS: Final = "eks:cluster-name"
"""Tag that EKS puts on what it makes: on groups, launch templates and instances."""

OWN: Final = "MadeWithTheGroup"
"""Mark on tags that a group was created with, in addition to the members that Auto Scaling returns."""


@dataclass(frozen=True)
class Size:
    """How many instances a group may have, and how many it wants."""

    minimum: int
    maximum: int
    desired: int


@dataclass(frozen=True)
class GroupArgs:
    """A group to be made.

    Parameters
    ----------
    name
        Of the group, such as ``eks-gpu-1a2b3c4d-...``.
    size
        Within its own bounds.
    subnets
        Ids of existing subnets.
    instance_type
        Such as ``m6i.large``.
    tags
        On the group; passed on to instances as EKS does it.
    placement_group
        Where its instances start. Default: anywhere.
    """

    name: str
    size: Size
    subnets: Sequence[str]
    instance_type: str
    tags: Mapping[str, str]
    placement_group: str | None = None


def make(args: GroupArgs) -> None:
    """Make a group with its instances and its launch template."""
    ec2, autoscaling = store.ec2(), store.autoscaling()
    data = {"ImageId": IMAGE, "InstanceType": args.instance_type}
    template = ec2.create_launch_template(args.name, "", data, {"launch-template": dict(args.tags)})
    autoscaling.create_auto_scaling_group(
        name=args.name,
        availability_zones=[],
        desired_capacity=args.size.desired,
        max_size=args.size.maximum,
        min_size=args.size.minimum,
        launch_config_name="",
        launch_template={"LaunchTemplateId": template.id, "Version": "1"},
        vpc_zone_identifier=",".join(args.subnets),
        default_cooldown=None,
        health_check_period=None,
        health_check_type="EC2",
        load_balancers=[],
        target_group_arns=[],
        placement_group=args.placement_group,
        termination_policies=[],
        tags=[{"Key": key, "Value": value, "PropagateAtLaunch": True, OWN: True} for key, value in args.tags.items()],
        capacity_rebalance=False,
    )


def size_of(name: str) -> Size:
    """Return a group's size as it is now.

    Raises
    ------
    LookupError
        There is no such group.
    """
    group = _group(name)
    return Size(group.min_size or 0, group.max_size or 0, group.desired_capacity or 0)


def place(name: str, placement_group: str | None) -> None:
    """Let a group's instances start in a placement group from now on, or anywhere; a group that is gone stays gone."""
    if group := store.autoscaling().autoscaling_groups.get(name):
        group.placement_group = placement_group


def instances(name: str) -> list[str]:
    """Return the ids of a group's instances that are in service."""
    return [state.instance.id for state in _group(name).active_instances()]


def resize(name: str, size: Size) -> None:
    """Give a group other bounds and another desired size; instances come and go with it.

    Raises
    ------
    LookupError
        There is no such group.
    """
    group = _group(name)
    group.min_size, group.max_size = size.minimum, size.maximum
    group.set_desired_capacity(size.desired)
    release_interfaces()


def warm(name: str, config: Mapping[str, Any]) -> None:
    """Give a group the warm pool of its node group's ``warmPoolConfig``; none if that is empty. Nothing boots in it."""
    group = store.autoscaling().autoscaling_groups.get(name)
    if group is None:
        return
    group.warm_pool = None
    if config:
        group.put_warm_pool(
            max_group_prepared_capacity=config.get("maxGroupPreparedCapacity"),
            min_size=config["minSize"],
            pool_state=str(config["poolState"]).title(),
            instance_reuse_policy={"ReuseOnScaleIn": config["reuseOnScaleIn"]},
        )


def delete(name: str) -> None:
    """Remove a group with its instances, their network interfaces and its launch template; gone already is fine."""
    ec2, autoscaling = store.ec2(), store.autoscaling()
    if name in autoscaling.autoscaling_groups:
        autoscaling.delete_auto_scaling_group(name)
        for key, action in [*autoscaling.scheduled_actions.items()]:
            if action.auto_scaling_group_name == name:
                del autoscaling.scheduled_actions[key]
        release_interfaces()
    if name in ec2.launch_template_name_to_ids:
        ec2.delete_launch_template(name, None)


def release_interfaces() -> None:
    """Remove the network interfaces of instances that are terminated; moto keeps them."""
    interfaces = store.ec2().enis
    for id_, interface in [*interfaces.items()]:
        if interface.instance and interface.instance.state == "terminated":
            del interfaces[id_]


def _group(name: str) -> Any:
    groups = store.autoscaling().autoscaling_groups
    if name not in groups:
        raise LookupError(f"there is no Auto Scaling group {name}; there are: {', '.join(groups) or 'none'}")
    return groups[name]
