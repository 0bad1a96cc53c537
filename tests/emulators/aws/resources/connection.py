"""AWS's API as a caller sees it: clients, errors in the words of the real plug-in, and patience."""

import os
import threading
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

import boto3
from botocore.client import BaseClient
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError

from emulators.core.polling import Polling, address
from workbench.offline.aws.models import service_model
from workbench.offline.provider import CloudError

ADDRESS_VARIABLE: Final = "AWS_ENDPOINT_URL"
"""Variable with the address of the emulator's server, as all of AWS's own tools read it."""

POLL_SECONDS: Final = 10.0
"""Seconds of AWS's time between two polls, the longest that the real plug-in waits."""

ATTEMPTS: Final = 10
"""Tries of a call that was throttled, found the service in trouble or lost its connection.

The real plug-in has 25, whose last ones lie minutes apart. Variable ``AWS_MAX_ATTEMPTS`` changes it, as it does there.
"""

NAMES: Final = {
    "autoscaling": "Auto Scaling",
    "backup": "Backup",
    "ec2": "EC2",
    "efs": "EFS",
    "eks": "EKS",
    "fsx": "FSx",
    "iam": "IAM",
    "kms": "KMS",
    "logs": "CloudWatch Logs",
    "sts": "STS",
}
"""Services by botocore's name, as AWS's SDK for Go calls them in errors."""

T = TypeVar("T")


class ApiError(CloudError):
    """A call that AWS refused or that got no answer.

    Parameters
    ----------
    text
        What the real plug-in says of it.
    code, message
        AWS's own; empty if there was no answer.
    """

    def __init__(self, text: str, code: str = "", message: str = "") -> None:
        super().__init__(text)
        self.code, self.message = code, message


class Aws:
    """AWS in one region, on loopback; threads may share it.

    Parameters
    ----------
    region
        Where everything regional is. Default: the server's.
    environment
        Variables of the process.

    Raises
    ------
    RefusedError
        No address is given, or one that is not on loopback: the emulator never talks to AWS itself.
    """

    def __init__(self, region: str, environment: Mapping[str, str] = os.environ) -> None:
        self.region = region
        self._address = address("AWS", "emulators.aws", ADDRESS_VARIABLE, environment)
        self._pace = Polling.of(environment)
        self._attempts = int(environment.get("AWS_MAX_ATTEMPTS") or ATTEMPTS)
        self._session = boto3.Session("emulator", "emulator", region_name=region)  # not the user's credentials
        self._clients: dict[str, BaseClient] = {}
        self._one_at_a_time = threading.Lock()
        self._account = ""

    @property
    def account(self) -> str:
        """Id of the account that the credentials are of."""
        if not self._account:
            self._account = str(self.call("sts", "GetCallerIdentity")["Account"])
        return self._account

    def arn(self, service: str, resource: str) -> str:
        """Return the ARN of a resource whose description has none."""
        return f"arn:aws:{service}:{self.region}:{self.account}:{resource}"

    def call(self, service: str, operation: str, **members: Any) -> dict[str, Any]:
        """Call an operation, named as botocore's models do, and return its answer.

        Raises
        ------
        ApiError
            After as many attempts as make sense.
        """
        about = f"operation error {NAMES[service]}: {operation}"
        try:
            answer: dict[str, Any] = self._client(service)._make_api_call(operation, members)
        except ClientError as error:
            raise self._refused(service, operation, about, error) from error
        except HTTPClientError as error:
            raise ApiError(f"{about}, https response error StatusCode: 0, RequestID: , {error}") from error
        except BotoCoreError as error:
            raise ApiError(f"{about}, {error}") from error
        return answer

    def _refused(self, service: str, operation: str, about: str, error: ClientError) -> ApiError:
        code, message = error.response["Error"].get("Code", ""), error.response["Error"].get("Message", "")
        metadata = error.response.get("ResponseMetadata", {})
        shapes = service_model(service).operation_model(operation).error_shapes
        # AWS's SDK for Go has types for the errors that the operation's model lists.
        known = code in {shape.name for shape in shapes} | {shape.error_code for shape in shapes}
        text = f"{about}, https response error StatusCode: {metadata.get('HTTPStatusCode', 0)}, "
        text += f"RequestID: {metadata.get('RequestId', '')}, {'' if known else 'api error '}{code}: {message}"
        return ApiError(text, code, message)

    def _client(self, service: str) -> BaseClient:
        with self._one_at_a_time:  # a session makes one client at a time
            if service not in self._clients:
                config = Config(
                    retries={"mode": "standard", "total_max_attempts": self._attempts},
                    max_pool_connections=64,
                    read_timeout=3600,  # AWS's SDK for Go waits for an answer without a limit
                    proxies={},  # one that the machine has is not for loopback
                )
                self._clients[service] = self._session.client(service, endpoint_url=self._address, config=config)
            return self._clients[service]

    def until(self, done: Callable[[], T | None], minutes: float) -> T | None:
        """Return the first answer that is not None; None if ``minutes`` of AWS's time give none."""
        return self._pace.until(done, minutes, POLL_SECONDS)

    def persist(self, action: Callable[[], T], passes: Callable[[ApiError], bool], minutes: float) -> T:
        """Return what ``action`` returns; as long as it fails with what ``passes``, try again within ``minutes``."""
        last: list[ApiError] = []

        def attempt() -> tuple[T] | None:
            try:
                return (action(),)
            except ApiError as error:
                if not passes(error):
                    raise
                last.append(error)
                return None

        result = self.until(attempt, minutes)
        if result is None:
            raise last[-1]
        return result[0]


def said(what: str, error: ApiError) -> CloudError:
    """Return the error that the engine shows, such as ``creating EKS Cluster (dev): operation error EKS: ...``."""
    return CloudError(f"{what}: {error}")
