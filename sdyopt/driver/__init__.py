"""Runs a job, from bytes to text: split, parse, verify, run a pipeline, print. Does no I/O itself."""
