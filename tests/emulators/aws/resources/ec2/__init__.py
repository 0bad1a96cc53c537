"""EC2: the network and what machines start from. Sources: internal/service/ec2/*.go."""

from typing import Final

from emulators.aws.resources.ec2 import endpoints, launch_templates, network, placement_groups, security_groups

KINDS: Final = {
    **network.KINDS,
    **endpoints.KINDS,
    **security_groups.KINDS,
    **launch_templates.KINDS,
    **placement_groups.KINDS,
}
"""By type token."""
