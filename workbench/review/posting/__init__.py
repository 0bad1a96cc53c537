"""What the trusted second stage of a workflow tells people on GitHub: one comment, one issue."""
