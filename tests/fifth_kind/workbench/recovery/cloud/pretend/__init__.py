"""The user's account at the pretended cloud."""
