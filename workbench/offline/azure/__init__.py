"""Azure without an account."""
