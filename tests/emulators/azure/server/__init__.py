"""Azure's side of the emulator: one process that answers as Azure Resource Manager. State is in its memory."""

from typing import Final

TENANT: Final = "72f988bf-0000-4000-8000-2d7cd011db47"
"""The directory that everything belongs to; made up."""
