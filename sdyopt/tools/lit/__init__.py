"""Runs lit tests without LLVM: a plugin of pytest that collects .mlir files and runs their RUN lines.

pytest imports this package at the start of every run, with or without lit tests, so it imports nothing else.
"""
