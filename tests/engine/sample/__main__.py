"""The sample cluster, with the edits that the test names laid over its inputs."""

import os

import pulumi

from support.eks_edits import EDITS
from support.eks_sample import program

edits = [EDITS[name].apply for name in os.environ["EDIT"].split("+")]


def transform(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult | None:
    for edit in edits:
        edit(args.type_, args.name, args.props)
    return pulumi.ResourceTransformResult(args.props, args.opts)


pulumi.runtime.register_resource_transform(transform)
program()
