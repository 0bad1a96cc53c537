"""Type tokens of AWS resources that several rules and views read."""

from typing import Final

LAUNCH_TEMPLATE: Final = "aws:ec2/launchTemplate:LaunchTemplate"
SUBNET: Final = "aws:ec2/subnet:Subnet"
