"""Posts to GitHub from the trusted second stage of a workflow: one comment, one issue."""
