"""What AWS answers when it refuses."""


class AwsError(Exception):
    """A refusal, as AWS words it.

    Parameters
    ----------
    code
        As the service's model names it, such as ``ResourceNotFoundException`` or ``DependencyViolation``.
    status
        HTTP status, such as 404.
    message
        What a caller reads.
    """

    def __init__(self, code: str, status: int, message: str) -> None:
        super().__init__(message)
        self.code, self.status, self.message = code, status, message
