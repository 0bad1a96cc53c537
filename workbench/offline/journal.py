"""Name of the journal in which plug-ins record their work; readable without loading a plug-in."""

from typing import Final

JOURNAL: Final = "IGZ_CLUSTERS_OFFLINE_JOURNAL"
"""Variable with the path of the journal: one JSON line per validated or refused call."""
