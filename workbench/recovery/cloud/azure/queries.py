"""The subscription of a stack, asked with the user's own credentials. Nothing in it is ever changed from here."""

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
"""Codes for credentials that are no longer any: https://learn.microsoft.com/azure/azure-resource-manager/troubleshooting/common-deployment-errors."""

WRONG_QUESTION: Final = frozenset({"InvalidResourceType", "InvalidResourceNamespace"})
"""Codes that come with the status of what is not there, and say nothing about that."""

LOG_IN: Final = "Open a session of the identity that deploys the stack, as for `igz-clusters up`, then run this again."
_ERRORS: Final = {401: ClientAuthenticationError, 404: ResourceNotFoundError}
_RETRIES: Final = 10


@dataclass(frozen=True)
class AzureQueries:
    """Answers questions about one subscription.

    Parameters
    ----------
    address
        Of ARM.
    client
        Of it, with the credentials.
    stack
        Name of the stack.
    choices
        What its file says about its cluster.
    """

    address: str
    client: PipelineClient[HttpRequest, Any]
    stack: str
    choices: AksConfig

    def look_up(self, type_: str, id_: str) -> dict[str, Any]:
        """Return what is of a type of Pulumi's and has an ARM id, empty if it is not there.

        Raises
        ------
        UserError
            Azure does not answer, or refuses to.
        """
        return self.get(id_, resource(type_).api_version)

    def get(self, path: str, version: str) -> dict[str, Any]:
        """Return what is at a path by a version of the API, empty if nothing is; raises what ``look_up`` does."""
        return self._get(f"{self.address}{path}?api-version={version}", path)

    def listed(self, path: str, version: str) -> list[dict[str, Any]]:
        """Return the elements of a list of any number of pages; none if what they belong to is not there."""
        found: list[dict[str, Any]] = []
        page = self.get(path, version)
        while page:
            found += page.get("value") or ()
            link = page.get("nextLink")
            page = self._get(link, path) if link else {}
        return found

    @property
    def tags(self) -> dict[str, str]:
        """Tags of what this stack made: two teams may call their stacks ``dev``, so that the cluster counts too."""
        return {AzureTag.STACK.value: self.stack, AzureTag.CLUSTER.value: self.choices.name}

    def is_ours(self, tags: Mapping[str, str]) -> bool:
        """Whether what carries ``tags`` was made by this stack."""
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
        Of the endpoint, such as ``https://management.azure.com``.
    policies
        Beside the retries: who is asking. An endpoint that wants no credentials needs none.
    """
    return PipelineClient(address, policies=[HeadersPolicy(), RetryPolicy(retry_total=_RETRIES), *policies])


@contextmanager
def asking(about: str) -> Iterator[None]:
    """Turn Azure's errors into a user's; what is not there is no error."""
    try:
        yield
    except ResourceNotFoundError as error:
        if error.error and error.error.code in WRONG_QUESTION:
            raise UserError(f"Azure does not know what {about} may be: {error.error.message}") from None
    except ClientAuthenticationError as error:
        code = error.error.code if error.error else ""
        if code in EXPIRED:
            raise UserError(f"Azure no longer takes your credentials ({code}).", LOG_IN) from None
        raise UserError(f"There are no Azure credentials to look with: {error.message}", LOG_IN) from None
    except HttpResponseError as error:
        code = (error.error.code if error.error else "") or str(error.status_code)
        message = error.error.message if error.error else error.message
        raise UserError(
            f"Azure refused to show {about} ({code}): {message}",
            "To look for what a lost run made, the identity needs the rights to read with which Pulumi refreshes.",
        ) from None
    except (ServiceRequestError, ServiceResponseError) as error:
        raise UserError(
            f"Azure did not answer about {about}: {error.message}", "Look at the network, then repeat."
        ) from None
