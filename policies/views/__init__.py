"""What rules look at: one view of node groups, pods, classes for all kinds of cluster."""
