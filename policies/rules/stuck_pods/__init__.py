"""Runs and jobs that hang or never start."""
