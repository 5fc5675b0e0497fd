"""Source locations of operations: where an operation has no line, the line of the call of its function.

JAX gives the operations of library functions such as `jnp.take` a name, but no line.
"""

from __future__ import annotations

from sdyopt.analysis.figures.execution_counts import ExecutionCounts
from sdyopt.analysis.figures.source_locations import SourceLocation, source_location
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.ir.operation import Op


class CallLocations:
    """The source locations of the calls of a module's functions, which complete those in the functions."""

    def __init__(self, counts: ExecutionCounts) -> None:
        self._counts = counts
        self._of_function: dict[FuncOp, SourceLocation | None] = {}

    def completed(self, location: SourceLocation, op: Op | None) -> SourceLocation:
        """`location`; if it has no line, that of the first call of the function that is or contains `op`."""
        if location.line or op is None:
            return location
        function = next((each for each in (op, *op.ancestors()) if isinstance(each, FuncOp)), None)
        call = None if function is None else self._call_location(function)
        if call is None:
            return location
        names = "/".join(filter(None, (call.name_stack, location.name_stack)))
        return call._replace(name_stack=names)

    def _call_location(self, function: FuncOp) -> SourceLocation | None:
        """The first completed location of a call of the function that has a line; None if none has."""
        if function not in self._of_function:
            self._of_function[function] = None  # for recursion
            sites = [
                self.completed(source_location(op.location), op) for op in self._counts.call_sites(function)
            ]
            self._of_function[function] = next((site for site in sites if site.line), None)
        return self._of_function[function]
