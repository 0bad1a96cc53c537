"""What is specific to EKS and AKS about changes of clusters; the rest of the engine is the same for both."""
