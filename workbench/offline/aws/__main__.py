"""Serves the offline AWS provider to the engine that started this process."""

from workbench.offline.aws.provider import OfflineAws
from workbench.offline.plugin import serve

serve(OfflineAws())
