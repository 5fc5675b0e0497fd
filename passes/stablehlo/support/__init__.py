"""Helpers that the passes of stablehlo-opt share."""
