"""Reports on a program's communication, memory and compute, their limits, and pass statistics and timing."""
