"""The ways in: the command line and its driver, the Python interface, and the lit plugin."""
