"""Field manager of all objects that this package applies."""

from typing import Final

FIELD_MANAGER: Final = "igz-clusters"
"""Manager of all fields that we apply.

By default, the Kubernetes provider generates a name for each object and stores it only in the state. If a run is killed
between an object's creation and the saving of the state, the next run uses another name, and the API server reports a
conflict with the first. With one constant name any run can be repeated.
"""
