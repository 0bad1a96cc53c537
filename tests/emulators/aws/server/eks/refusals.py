"""How EKS refuses: its codes with the HTTP status that its model gives each of them."""

from emulators.aws.server.errors import AwsError


def not_found(message: str) -> AwsError:
    """Return the refusal of a request about something that is not there."""
    return AwsError("ResourceNotFoundException", 404, message)


def in_use(message: str) -> AwsError:
    """Return the refusal of a name that is taken, or of something that is busy or still needed."""
    return AwsError("ResourceInUseException", 409, message)


def invalid_parameter(message: str) -> AwsError:
    """Return the refusal of a value that is wrong in itself or does not go with what exists."""
    return AwsError("InvalidParameterException", 400, message)


def invalid_request(message: str) -> AwsError:
    """Return the refusal of something that is not possible in the present state."""
    return AwsError("InvalidRequestException", 400, message)


def over_quota(message: str) -> AwsError:
    """Return the refusal of one thing more than the account may have."""
    return AwsError("ResourceLimitExceededException", 400, message)
