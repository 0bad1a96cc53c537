"""Emulators of clouds, for tests: nothing that ships imports them."""
