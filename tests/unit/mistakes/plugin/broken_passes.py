"""A plugin with a bug."""

from typing import Any

from sdyopt.mlir.pipeline import Pass
from sdyopt.mlir.registry import register


@register("broken-count")
class BrokenCount(Pass):
    """broken-count: computes the average number of operations per function."""

    def run(self, op: Any) -> bool:
        functions = [each for each in op.walk() if each.signature.name == "stablehlo.func"]
        return sum(1 for _ in op.walk()) / len(functions) > 0
