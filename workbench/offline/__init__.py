"""Clouds without an account: provider plug-ins of our own, for renders and tests."""
