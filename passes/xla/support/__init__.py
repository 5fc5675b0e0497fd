"""Helpers of several of XLA's passes: shardings in HLO, and frontend attributes."""
