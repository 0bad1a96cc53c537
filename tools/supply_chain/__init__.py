"""Checks what this package is built from: ``python -m tools.supply_chain``."""
