"""In-cluster add-ons for nodes, disks and GPUs, as typed objects that policies see."""
