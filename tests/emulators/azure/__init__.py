"""Azure without an account, for tests: a server that answers as ARM, and the provider that uses it."""
