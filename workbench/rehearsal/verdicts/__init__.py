"""Judges a record against the scenario's expectations, with reasons and hints."""
