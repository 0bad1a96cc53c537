"""The sample cluster, with the edit that the test names laid over its inputs."""

import os

import pulumi

from support.eks_edits import EDITS
from support.eks_sample import program

edit = EDITS[os.environ["EDIT"]].apply


def transform(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult | None:
    edit(args.type_, args.name, args.props)
    return pulumi.ResourceTransformResult(args.props, args.opts)


pulumi.runtime.register_resource_transform(transform)
program()
