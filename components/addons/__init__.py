"""What runs in a cluster so that its nodes, disks and GPUs can be used, as typed objects that policies see."""
