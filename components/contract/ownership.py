"""Field manager of all objects that this package applies."""

from typing import Final

FIELD_MANAGER: Final = "igz-clusters"
"""Manager of all fields that we apply.

Left alone, the Kubernetes provider invents a name for each object and keeps it in the state only. If a run is killed
between an object's creation and the saving of the state, the next run comes under another name, and the API server
refuses it as a conflict with the first. Under one constant name any run can be repeated.
"""
