"""The same bytes under every Python: runs all lit cases in one process, and compares what is printed."""
