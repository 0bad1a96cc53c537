"""Sends a scenario's work and events to the API server, and records what happens."""
