"""Runs a job: splits, parses and verifies the input, runs a pipeline, and prints.

All I/O is left to the caller and to the callbacks of the job.
"""
