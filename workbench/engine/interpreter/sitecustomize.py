"""Runs first in every Python process of the engine: no traceback on interrupts, no module in place of ours."""  # noqa: INP001 the interpreter looks for this name on PYTHONPATH

import os
import signal
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path

# The engine ends its programs by SIGINT, at any moment of their imports too, and shows what they print.
signal.signal(signal.SIGINT, signal.SIG_DFL)

# The machine may have a module of this name, which would have been imported instead of this one.
sys.path.remove(str(Path(__file__).parent))
_own = sys.modules.pop(__name__)
with suppress(ModuleNotFoundError):
    import_module(__name__)
sys.modules.setdefault(__name__, _own)

# A `yaml.py` of the user must not replace the installed one.
_users = [str(Path(each).absolute()) for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each]
sys.path.sort(key=lambda each: each in _users)
