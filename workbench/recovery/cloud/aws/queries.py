"""Read-only queries to the AWS account and region of a stack, with the user's credentials."""

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
from workbench.system.aws_sign_in import EXPIRED, NO_CREDENTIALS
from workbench.system.errors import UserError

NOT_THERE: Final = frozenset(
    {"FileSystemNotFound", "NoSuchEntity", "NotFoundException", "PolicyNotFound", "ResourceNotFoundException"}
)
"""Not-found codes of EFS, FSx, IAM, KMS, EKS and CloudWatch Logs. Those of EC2 end in ``.NotFound``."""

LOG_IN: Final = "Log in with the role that deploys the stack, as for `igz-clusters up`, then run the command again."
_RETRIES: Final = Config(retries={"mode": "standard", "max_attempts": 10})


@dataclass(frozen=True)
class AwsQueries:
    """Queries one account and region.

    Parameters
    ----------
    session
        Session with credentials and region.
    stack, cluster
        Names of the stack and of its cluster.
    """

    session: boto3.Session
    stack: str
    cluster: str

    @property
    def region(self) -> str:
        """Region of the stack."""
        return str(self.session.region_name)

    def look_up(self, service: str, operation: str, **parameters: Any) -> dict[str, Any]:
        """Return the response; empty if the resource does not exist.

        Raises
        ------
        UserError
            AWS does not answer or refuses the request.
        """
        with asking(service, operation):
            answer: dict[str, Any] = getattr(_client(self.session, service), operation)(**parameters)
            return answer
        return {}

    def listed(self, service: str, operation: str, key: str, **parameters: Any) -> list[Any]:
        """Return the elements of all pages of a response; empty if their parent does not exist.

        Parameters
        ----------
        service, operation
            Names in boto3.
        key
            JMESPath of the elements in a page.
        parameters
            Parameters of the request.

        Raises
        ------
        UserError
            As in ``look_up``.
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
        """Tags of this stack's resources.

        Includes the cluster, since two teams may both have a stack ``dev``, and the region, since roles are global.
        """
        return {
            OwnTag.STACK.value: self.stack,
            OwnTag.CLUSTER.value: self.cluster,
            OwnTag.REGION.value: self.region,
        }

    def is_ours(self, tags: Mapping[str, str]) -> bool:
        """Return whether ``tags`` are those of this stack's resources."""
        return self.tags.items() <= tags.items()


@cache  # creating a client is slow
def _client(session: boto3.Session, service: str) -> Any:
    return session.client(service, config=_RETRIES)


@contextmanager
def asking(service: str, operation: str) -> Iterator[None]:
    """Convert AWS's errors into ``UserError``; suppress not-found errors."""
    try:
        yield
    except NO_CREDENTIALS as error:
        raise UserError(f"No AWS credentials found: {error}", LOG_IN) from None
    except boto.ClientError as error:
        code = str(error.response["Error"].get("Code"))
        if code in NOT_THERE or code.endswith(".NotFound"):
            return
        if code in EXPIRED:
            raise UserError(f"Your AWS credentials have expired ({code}).", LOG_IN) from None
        raise UserError(
            f"AWS refused {service}:{operation}: {error.response['Error'].get('Message') or code}",
            "To find resources of an interrupted run, the role needs the read permissions of a Pulumi refresh.",
        ) from None
    except boto.BotoCoreError as error:
        raise UserError(
            f"AWS did not answer {service}:{operation}: {error}", "Check the network, then run the command again."
        ) from None
