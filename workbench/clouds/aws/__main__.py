"""Serves the offline AWS provider to the engine that started this process."""

from workbench.clouds.aws.provider import OfflineAws
from workbench.clouds.plugin import serve

serve(OfflineAws())
