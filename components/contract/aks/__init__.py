"""What a stack file may choose about an AKS cluster, and what follows from it."""
