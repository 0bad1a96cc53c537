"""Benchmarks: what this project costs over the least that the same engine can do, measured side by side."""
