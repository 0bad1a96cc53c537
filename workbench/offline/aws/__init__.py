"""AWS without an account."""
