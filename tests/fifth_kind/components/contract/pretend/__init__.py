"""What a stack file may choose about a pretended cloud."""
