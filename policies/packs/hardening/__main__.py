"""Serves the pack to the engine until the engine stops it."""  # noqa: INP001 run as a folder by the engine

import gc

gc.disable()  # until all is loaded: collecting would take a sixth of the start and free nothing

from policies.rule import Pack  # noqa: E402
from policies.sdk import serve  # noqa: E402

serve(Pack.HARDENING)
