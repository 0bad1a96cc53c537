"""Errors of AWS and its SDK for credentials that are missing, expired or invalid.

Only code that queries AWS imports this: it loads the SDK.
"""

from typing import Final

from botocore import exceptions as boto

EXPIRED: Final = frozenset(
    {
        "ExpiredToken",
        "ExpiredTokenException",
        "InvalidClientTokenId",
        "RequestExpired",
        "TokenRefreshRequired",
        "UnrecognizedClientException",
    }
)
"""Error codes for expired or invalid credentials: https://docs.aws.amazon.com/STS/latest/APIReference/CommonErrors.html."""

NO_CREDENTIALS: Final = (
    boto.NoCredentialsError,
    boto.PartialCredentialsError,
    boto.CredentialRetrievalError,
    boto.ProfileNotFound,
    boto.SSOError,
    boto.TokenRetrievalError,
)
"""Errors of the SDK that finds no credentials."""
