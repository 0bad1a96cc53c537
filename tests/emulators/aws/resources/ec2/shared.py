"""What every kind of EC2 resource has in common."""

from typing import Final

from emulators.aws.resources.kinds import DescribeCall, State, Tagging

TAGGING: Final = Tagging("ec2", "CreateTags", "DeleteTags", {"Resources": ["{id}"]}, "Tags", "Tags")
AVAILABLE: Final = State("State", "available", frozenset({"pending"}))


def first(operation: str, names: str, of: str) -> DescribeCall:
    """Return the call that describes one resource by its id."""
    return DescribeCall("ec2", operation, {names: ["{id}"]}, f"{of}[0]")
