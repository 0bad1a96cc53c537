"""The stack's own program, with the change that the test names: what a later release might do, with care or without."""

import os
from collections.abc import Callable
from typing import Any

import pulumi

from components.base import PlatformComponent

Args = pulumi.ResourceTransformArgs


def relabel(args: Args) -> None:
    if args.type_ == "kubernetes:core/v1:Node":
        args.props["metadata"]["labels"]["example.invalid/new"] = "yes"


def rename_object(args: Args) -> None:
    if args.name == "igz-workload-low":
        args.props["metadata"]["name"] = "igz-workload-lowest"


def change_the_clusters_identity(args: Args) -> None:
    if args.type_ == "pulumi:providers:kubernetes":
        args.props["clusterIdentifier"] = "another"


def rename_component_type(args: Args) -> None:
    """Do nothing here: a type is renamed where the component registers itself."""


CHANGES: dict[str, Callable[[Args], None]] = {
    change.__name__: change for change in (relabel, rename_object, change_the_clusters_identity, rename_component_type)
}

change = CHANGES[os.environ["CHANGE"]]


def transform(args: Args) -> pulumi.ResourceTransformResult:
    change(args)
    return pulumi.ResourceTransformResult(args.props, args.opts)


pulumi.runtime.register_resource_transform(transform)

if change is rename_component_type:
    register = PlatformComponent.__init__

    def renamed(self: PlatformComponent, token: str, *arguments: Any) -> None:
        register(self, token.replace("scheduling:UserNamespace", "scheduling:Namespace"), *arguments)

    PlatformComponent.__init__ = renamed  # type: ignore[method-assign]

import infra.__main__  # noqa: E402, F401 the program starts when it is imported
