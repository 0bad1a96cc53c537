"""The stack's own program, with the weakening that the test names laid over its rendered inputs."""

import os

import pulumi

from support.weakenings import WEAKENINGS

weaken = WEAKENINGS[os.environ["WEAKENING"]].apply


def transform(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult | None:
    weaken(args.type_, args.name, args.props)
    return pulumi.ResourceTransformResult(args.props, args.opts)


pulumi.runtime.register_resource_transform(transform)

import infra.__main__  # noqa: E402, F401 the program starts when it is imported
