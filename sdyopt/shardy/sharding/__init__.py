"""Computes with shardings: axis lists, rules, propagation steps, and plans of reshards and collectives."""
