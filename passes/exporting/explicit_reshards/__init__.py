"""Helpers of `sdy-insert-explicit-reshards`: plans of reshards, their insertion, and unreduced axes."""
