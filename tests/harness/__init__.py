"""Helpers of tests: new processes of sdy-opt, code blocks of pages, and whether jaxlib is installed."""
