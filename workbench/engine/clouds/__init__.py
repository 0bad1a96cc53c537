"""What changes of a cluster mean in each cloud: EKS and AKS as siblings, so that nobody else asks which one it is."""
