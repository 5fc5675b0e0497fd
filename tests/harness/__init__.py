"""Runs lit cases without LLVM: RUN lines, a small shell, `not`, `split-file`."""
