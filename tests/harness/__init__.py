"""Helpers of tests: new processes of sdy-opt, and whether the C++ passes are installed."""
