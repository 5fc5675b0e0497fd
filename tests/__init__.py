"""Tests: unit tests, lit cases, and the harness that runs the cases."""
