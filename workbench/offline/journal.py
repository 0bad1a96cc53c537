"""Where plug-ins note what they did, for whoever started the engine. Read without loading a plug-in."""

from typing import Final

JOURNAL: Final = "IGZ_CLUSTERS_OFFLINE_JOURNAL"
"""Variable with the path of a file in which plug-ins note what they judged and refused, a line of JSON each."""
