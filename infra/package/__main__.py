"""Serves the package to the engine until the engine stops it."""

import gc
import sys
from pathlib import Path

gc.disable()  # the process ends with the run: garbage collection would take a third of its time and free little

# The engine installs the requirements of a plug-in, but not the repository that contains it.
sys.path[0] = str(Path(__file__).parents[2])

from infra.package.provider import serve  # noqa: E402

serve()
