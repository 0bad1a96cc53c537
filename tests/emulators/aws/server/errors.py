"""What AWS answers when it refuses."""

from emulators.core.refusal import Refusal


class AwsError(Refusal):
    """A refusal, as AWS words it."""
