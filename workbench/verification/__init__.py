"""Compares a running cluster with the contract; read-only. Checks are pure functions of a contract and a snapshot."""
