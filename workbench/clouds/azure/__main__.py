"""Serves the offline Azure provider to the engine that started this process."""

from workbench.clouds.azure.provider import OfflineAzure
from workbench.clouds.plugin import serve

serve(OfflineAzure())
