"""Connects recovery to the emulator in place of ARM; the product itself knows Azure's endpoint only."""

import os
from typing import Any

from azure.core import PipelineClient
from azure.core.rest import HttpRequest

from components.contract.aks.config import AksConfig
from emulators.azure.client import ADDRESS_VARIABLE
from emulators.core.polling import address
from workbench.recovery.cloud.azure.queries import client_at


def connect(_: AksConfig) -> tuple[str, PipelineClient[HttpRequest, Any]]:
    """Return address and client of the running emulator; it wants no credentials, so none can leak."""
    found = address("Azure", "emulators.azure", ADDRESS_VARIABLE, os.environ)
    return found, client_at(found)
