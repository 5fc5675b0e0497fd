"""Helpers of sdy-resolve-permutation-factors."""
