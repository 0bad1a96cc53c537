"""The stack's own program, with the weakenings that the test names laid over its rendered inputs."""

import os

import pulumi

from support.weakenings import WEAKENINGS

changes = [WEAKENINGS[name].change for name in os.environ["WEAKENINGS"].split()]


def transform(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult | None:
    for change in changes:
        change.apply(args.type_, args.name, args.props)
    return pulumi.ResourceTransformResult(args.props, args.opts)


pulumi.runtime.register_resource_transform(transform)

import infra.__main__  # noqa: E402, F401 the program starts when it is imported
