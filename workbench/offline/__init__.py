"""Our own provider plug-ins for renders and tests without a cloud account."""
