"""AWS without an account, for tests: a server that speaks its API, and the provider that talks to it."""
