"""Tests: unit tests, lit tests, simulation, and comparisons with the C++ passes, XLA and JAX."""
