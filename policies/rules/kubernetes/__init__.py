"""Objects inside the cluster: who may do what there, and what a careless object would open."""
