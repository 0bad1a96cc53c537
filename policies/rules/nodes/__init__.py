"""Security of machines and their network."""
