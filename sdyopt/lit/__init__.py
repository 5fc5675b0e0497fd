"""Runs lit tests without LLVM: a plugin of pytest that collects .mlir files and runs their RUN lines.

pytest imports this package in every run once it is installed, so it imports nothing else.
"""
