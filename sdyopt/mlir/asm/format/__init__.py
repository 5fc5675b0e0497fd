"""Formats of operations and attributes, with the directives that all dialects have."""

from __future__ import annotations

from sdyopt.mlir.asm.format import directives as directives
