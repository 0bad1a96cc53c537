"""Ways in: load balancers and what they let through."""
