"""Runs lit tests without LLVM: RUN lines, a small shell, `not`, `split-file`."""
