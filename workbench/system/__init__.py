"""Access to this machine: folders, files, locks, processes."""
