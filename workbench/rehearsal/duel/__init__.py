"""One scenario under Cluster Autoscaler and under Karpenter, side by side."""
