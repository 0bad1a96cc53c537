"""What a stack file may choose about a cluster that somebody else built, and what is seen of it."""
