"""Azure without an account, for tests and rehearsals: a server that answers as ARM, and the provider that uses it."""
