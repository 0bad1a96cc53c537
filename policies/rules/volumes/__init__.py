"""What pods mount, and the keys to it."""
