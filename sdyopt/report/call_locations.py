"""Source locations of operations in functions: one without a line gets the line of the function's call.

JAX gives the operations of library functions such as `jnp.take` a name, but no line.
"""

from __future__ import annotations

from sdyopt.dialects.func import FuncOp
from sdyopt.ir.operation import Op
from sdyopt.report.execution_counts import ExecutionCounts
from sdyopt.report.source_locations import SourceLocation, source_location


class CallLocations:
    """For each function of a module, the location of its first call that has a line."""

    def __init__(self, counts: ExecutionCounts) -> None:
        self._counts = counts
        self._of_function: dict[FuncOp, SourceLocation | None] = {}

    def completed(self, location: SourceLocation, op: Op | None) -> SourceLocation:
        """A location in or at `op`, with the line of the call of its function if it has none."""
        if location.line or op is None:
            return location
        function = next((each for each in (op, *op.ancestors()) if isinstance(each, FuncOp)), None)
        call = None if function is None else self._call(function)
        if call is None:
            return location
        names = "/".join(filter(None, (call.name_stack, location.name_stack)))
        return call._replace(name_stack=names)

    def _call(self, function: FuncOp) -> SourceLocation | None:
        """The location of the first call of a function that has a line, by itself or by an outer call."""
        if function not in self._of_function:
            self._of_function[function] = None  # for recursion
            sites = [
                self.completed(source_location(op.location), op) for op in self._counts.call_sites(function)
            ]
            self._of_function[function] = next((site for site in sites if site.line), None)
        return self._of_function[function]
