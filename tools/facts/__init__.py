"""Generators of the facts tables."""
