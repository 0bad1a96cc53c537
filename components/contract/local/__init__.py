"""What a stack file may choose about a local cluster."""
