"""Who may run where, with how much, and who waits: classes, namespaces, quotas, admission."""
