"""Serves the offline Azure provider to the engine that started this process."""

from workbench.offline.azure.provider import OfflineAzure
from workbench.offline.plugin import serve

serve(OfflineAzure())
