"""Machines and the network around them, hardened."""
