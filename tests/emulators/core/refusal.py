"""What a cloud answers when it refuses."""


class Refusal(Exception):  # noqa: N818 a cloud's word, and no failure of the emulator
    """A refusal, as the cloud words it.

    Parameters
    ----------
    code
        As the service names it, such as ``DependencyViolation`` or ``OperationNotAllowed``.
    status
        HTTP status, such as 404.
    message
        What a caller reads.
    """

    def __init__(self, code: str, status: int, message: str) -> None:
        super().__init__(message)
        self.code, self.status, self.message = code, status, message
