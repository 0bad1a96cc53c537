"""Development and production are different clusters."""
