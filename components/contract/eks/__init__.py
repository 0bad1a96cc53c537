"""What a stack file may choose about an EKS cluster, and what follows from it."""
