"""What clouds emulators share: calls and faults, time, the listener, the routes of tests, and who starts them."""
