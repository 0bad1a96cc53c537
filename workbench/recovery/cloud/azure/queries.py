"""Read-only queries to the Azure subscription of a stack, with the user's credentials."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from azure.core import PipelineClient
from azure.core.exceptions import (
    ClientAuthenticationError,
    HttpResponseError,
    ResourceNotFoundError,
    ServiceRequestError,
    ServiceResponseError,
    map_error,
)
from azure.core.pipeline.policies import HeadersPolicy, RetryPolicy
from azure.core.rest import HttpRequest
from azure.mgmt.core.policies import ARMChallengeAuthenticationPolicy

from components.contract.aks.config import AksConfig
from components.contract.azure import AzureTag
from workbench.offline.azure.facts import resource
from workbench.recovery.cloud.azure.credentials import credential_of
from workbench.system.errors import UserError

ARM: Final = "https://management.azure.com"

EXPIRED: Final = frozenset({"ExpiredAuthenticationToken", "InvalidAuthenticationToken", "AuthenticationFailed"})
"""Error codes for expired or invalid credentials: https://learn.microsoft.com/azure/azure-resource-manager/troubleshooting/common-deployment-errors."""

WRONG_QUESTION: Final = frozenset({"InvalidResourceType", "InvalidResourceNamespace"})
"""Codes that come with status 404 although the request itself was wrong."""

LOG_IN: Final = "Log in as the identity that deploys the stack, as for `igz-clusters up`, then run the command again."
_ERRORS: Final = {401: ClientAuthenticationError, 404: ResourceNotFoundError}
_RETRIES: Final = 10


@dataclass(frozen=True)
class AzureQueries:
    """Queries one subscription.

    Parameters
    ----------
    address
        URL of ARM.
    client
        Client of ARM with credentials.
    stack
        Name of the stack.
    choices
        The cluster section of its file.
    """

    address: str
    client: PipelineClient[HttpRequest, Any]
    stack: str
    choices: AksConfig

    def look_up(self, type_: str, id_: str) -> dict[str, Any]:
        """Return the resource of a Pulumi type with an ARM id; empty if it does not exist.

        Raises
        ------
        UserError
            Azure does not answer or refuses the request.
        """
        return self.get(id_, resource(type_).api_version)

    def get(self, path: str, version: str) -> dict[str, Any]:
        """Return the resource at a path in an API version; empty if it does not exist. Raises as ``look_up``."""
        return self._get(f"{self.address}{path}?api-version={version}", path)

    def listed(self, path: str, version: str) -> list[dict[str, Any]]:
        """Return the elements of all pages of a list; empty if their parent does not exist."""
        result_of: list[dict[str, Any]] = []
        page = self.get(path, version)
        while page:
            result_of += page.get("value") or ()
            link = page.get("nextLink")
            page = self._get(link, path) if link else {}
        return result_of

    @property
    def tags(self) -> dict[str, str]:
        """Tags of this stack's resources; includes the cluster, since two teams may both have a stack ``dev``."""
        return {AzureTag.STACK.value: self.stack, AzureTag.CLUSTER.value: self.choices.name}

    def is_ours(self, tags: Mapping[str, str]) -> bool:
        """Return whether ``tags`` are those of this stack's resources."""
        return self.tags.items() <= tags.items()

    def _get(self, url: str, about: str) -> dict[str, Any]:
        with asking(about):
            answer = self.client.send_request(HttpRequest("GET", url))
            map_error(answer.status_code, answer, _ERRORS)
            answer.raise_for_status()
            body: dict[str, Any] = answer.json()
            return body
        return {}


Connect = Callable[[AksConfig], tuple[str, PipelineClient[HttpRequest, Any]]]
"""Returns address and client of ARM for a stack's cluster."""


def arm(choices: AksConfig) -> tuple[str, PipelineClient[HttpRequest, Any]]:
    """Return address and client of ARM, with the credentials that Pulumi's provider would use.

    Raises
    ------
    UserError
        The credentials are incomplete.
    """
    login = ARMChallengeAuthenticationPolicy(credential_of(choices.tenant_id), f"{ARM}/.default")
    return ARM, client_at(ARM, login)


def client_at(address: str, *policies: Any) -> PipelineClient[HttpRequest, Any]:
    """Return a client of an ARM endpoint that retries as Microsoft's own clients do.

    Parameters
    ----------
    address
        URL of the endpoint, such as ``https://management.azure.com``.
    policies
        Pipeline policies besides retries, such as authentication. None for an endpoint without credentials.
    """
    return PipelineClient(address, policies=[HeadersPolicy(), RetryPolicy(retry_total=_RETRIES), *policies])


@contextmanager
def asking(about: str) -> Iterator[None]:
    """Convert Azure's errors into ``UserError``; suppress not-found errors."""
    try:
        yield
    except ResourceNotFoundError as error:
        if error.error and error.error.code in WRONG_QUESTION:
            raise UserError(f"Azure does not recognise {about}: {error.error.message}") from None
    except ClientAuthenticationError as error:
        code = error.error.code if error.error else ""
        if code in EXPIRED:
            raise UserError(f"Your Azure credentials have expired ({code}).", LOG_IN) from None
        raise UserError(f"No Azure credentials found: {error.message}", LOG_IN) from None
    except HttpResponseError as error:
        code = (error.error.code if error.error else "") or str(error.status_code)
        message = error.error.message if error.error else error.message
        raise UserError(
            f"Azure refused to show {about} ({code}): {message}",
            "To find resources of an interrupted run, the identity needs the read permissions of a Pulumi refresh.",
        ) from None
    except (ServiceRequestError, ServiceResponseError) as error:
        raise UserError(
            f"Azure did not answer about {about}: {error.message}", "Check the network, then run the command again."
        ) from None
