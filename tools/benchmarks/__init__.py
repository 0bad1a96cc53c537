"""Benchmarks: this project's overhead over a minimal program on the same engine, measured side by side."""
