"""AKS: clusters, agent pools and maintenance windows, with their states over time and what is refused."""
