"""Names of clusters and agent pools, as Azure allows them."""

import re
from typing import Annotated, Final

from pydantic import AfterValidator, Field

RESERVED_WORDS: Final = ("microsoft", "windows")
"""Words that the name of a resource with an endpoint must not contain; it must not begin with ``login`` either.

https://learn.microsoft.com/azure/azure-resource-manager/troubleshooting/error-reserved-resource-name
"""

_CLUSTER: Final = "[a-z]([a-z0-9-]{0,52}[a-z0-9])?"
_AGENT_POOL: Final = "[a-z][a-z0-9]{0,11}"


def _cluster(name: str) -> str:
    if not re.fullmatch(_CLUSTER, name):
        raise ValueError("must be 1 to 54 lower-case letters, digits or '-', start with a letter and not end with '-'")
    for word in RESERVED_WORDS:
        if word in name:
            raise ValueError(f"must not contain '{word}', which Azure forbids")
    if name.startswith("login"):
        raise ValueError("must not begin with 'login', which Azure forbids")
    return name


def _agent_pool(name: str) -> str:
    if not re.fullmatch(_AGENT_POOL, name):
        raise ValueError("must be an agent pool's name: 1 to 12 lower-case letters and digits, a letter first")
    return name


ClusterName = Annotated[str, AfterValidator(_cluster), Field(json_schema_extra={"pattern": f"^{_CLUSTER}$"})]
AgentPoolName = Annotated[str, AfterValidator(_agent_pool), Field(json_schema_extra={"pattern": f"^{_AGENT_POOL}$"})]
