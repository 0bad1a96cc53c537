"""The machine that this runs on: folders, files, locks, processes."""
