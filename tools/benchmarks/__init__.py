"""Benchmarks: this project's overhead over a minimal program on the same engine, measured side by side."""

import sys

from workbench.system.paths import PROJECT_ROOT

# The emulators of AWS and Azure are there.
sys.path.append(str(PROJECT_ROOT / "tests"))
