"""What a scenario file says: works, arrivals, events and expectations."""
