"""The account and region of a stack, asked with the user's own credentials. Nothing in it is ever changed from here."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import boto3
import jmespath
from botocore import exceptions as boto
from botocore.config import Config

from components.contract.aws import OwnTag
from workbench.system.errors import UserError

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
"""Codes for credentials that are no longer any: https://docs.aws.amazon.com/STS/latest/APIReference/CommonErrors.html."""

NOT_THERE: Final = frozenset({"NoSuchEntity", "NotFoundException", "ResourceNotFoundException"})
"""Codes of IAM, KMS, EKS and CloudWatch Logs. Those of EC2 end in ``.NotFound``."""

NO_CREDENTIALS: Final = (
    boto.NoCredentialsError,
    boto.PartialCredentialsError,
    boto.CredentialRetrievalError,
    boto.ProfileNotFound,
    boto.SSOError,
    boto.TokenRetrievalError,
)

LOG_IN: Final = "Open a session of the role that deploys the stack, as for `igz-clusters up`, then run this again."
_RETRIES: Final = Config(retries={"mode": "standard", "max_attempts": 10})


@dataclass(frozen=True)
class AwsQueries:
    """Answers questions about one account and region.

    Parameters
    ----------
    session
        With the credentials and the region.
    stack, cluster
        Names of the stack and of its cluster.
    """

    session: boto3.Session
    stack: str
    cluster: str

    @property
    def region(self) -> str:
        """Region in which everything is."""
        return str(self.session.region_name)

    def look_up(self, service: str, operation: str, **parameters: Any) -> dict[str, Any]:
        """Return an answer, empty if what was asked about is not there.

        Raises
        ------
        UserError
            AWS does not answer, or refuses to.
        """
        with asking(service, operation):
            answer: dict[str, Any] = getattr(_client(self.session, service), operation)(**parameters)
            return answer
        return {}

    def listed(self, service: str, operation: str, key: str, **parameters: Any) -> list[Any]:
        """Return the elements of an answer of any number of pages; none if what they belong to is not there.

        Parameters
        ----------
        service, operation
            As boto3 spells them.
        key
            Where the elements are in a page, as a JMESPath.
        parameters
            Of the request.

        Raises
        ------
        UserError
            As ``look_up`` raises it.
        """
        with asking(service, operation):
            client = _client(self.session, service)
            if client.can_paginate(operation):
                pages = client.get_paginator(operation).paginate(**parameters)
            else:
                pages = [getattr(client, operation)(**parameters)]
            return [element for page in pages for element in jmespath.search(key, page) or ()]
        return []

    @property
    def tags(self) -> dict[str, str]:
        """Tags of what this stack made.

        Two teams may call their stacks ``dev``, so the cluster counts too; so does the region, since roles have none.
        """
        return {
            OwnTag.STACK.value: self.stack,
            OwnTag.CLUSTER.value: self.cluster,
            OwnTag.REGION.value: self.region,
        }

    def is_ours(self, tags: Mapping[str, str]) -> bool:
        """Whether what carries ``tags`` was made by this stack."""
        return self.tags.items() <= tags.items()


@cache  # a client takes a while to make
def _client(session: boto3.Session, service: str) -> Any:
    return session.client(service, config=_RETRIES)


@contextmanager
def asking(service: str, operation: str) -> Iterator[None]:
    """Turn AWS's errors into a user's; what is not there is no error."""
    try:
        yield
    except NO_CREDENTIALS as error:
        raise UserError(f"There are no AWS credentials to look with: {error}", LOG_IN) from None
    except boto.ClientError as error:
        code = str(error.response["Error"].get("Code"))
        if code in NOT_THERE or code.endswith(".NotFound"):
            return
        if code in EXPIRED:
            raise UserError(f"AWS no longer takes your credentials ({code}).", LOG_IN) from None
        raise UserError(
            f"AWS refused {service}:{operation}: {error.response['Error'].get('Message') or code}",
            "To look for what a lost run made, the role needs the rights to read with which Pulumi refreshes.",
        ) from None
    except boto.BotoCoreError as error:
        raise UserError(
            f"AWS did not answer {service}:{operation}: {error}", "Look at the network, then repeat."
        ) from None
