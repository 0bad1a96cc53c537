"""Serves the pack to the engine until the engine stops it."""  # noqa: INP001 run as a folder by the engine

import gc
import sys
from pathlib import Path

gc.disable()  # until all is loaded: collecting would take a sixth of the start and free nothing
sys.path.insert(0, str(Path(__file__).parents[3]))  # the engine installs a plug-in's requirements, not the plug-in

from policies.rule import Pack  # noqa: E402
from policies.sdk import serve  # noqa: E402

serve(Pack.BEST_PRACTICES)
