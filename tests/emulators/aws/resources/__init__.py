"""How each type of resource is made, read, changed and deleted through AWS's API, as Pulumi's plug-in does it.

``kinds.py`` has the words in which a type is described, one module a service describes its types, and
``resource_handler.py`` does what they say. Sources are files of hashicorp/terraform-provider-aws, which that plug-in
bridges; ``workbench/offline/aws/facts.json`` names the file of each type.
"""

from collections.abc import Mapping
from typing import Final

from emulators.aws.resources import autoscaling, backup, ec2, efs, eks, eks_access, fsx, iam, kms, logs
from emulators.aws.resources.kinds import Kind

KINDS: Final[Mapping[str, Kind]] = {
    **autoscaling.KINDS,
    **backup.KINDS,
    **ec2.KINDS,
    **efs.KINDS,
    **eks.KINDS,
    **eks_access.KINDS,
    **fsx.KINDS,
    **iam.KINDS,
    **kms.KINDS,
    **logs.KINDS,
}
"""By type token."""
