"""Parts of cluster changes that are specific to EKS and AKS; the rest of the engine is the same for both."""
