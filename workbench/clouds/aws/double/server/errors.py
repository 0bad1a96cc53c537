"""What AWS answers when it refuses."""

from workbench.clouds.double.refusal import Refusal


class AwsError(Refusal):
    """A refusal, as AWS words it."""
