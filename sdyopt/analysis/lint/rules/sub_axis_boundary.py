"""sub-axis-boundary: an input or output of the program is sharded along a sub-axis.

    sdy.mesh @mesh = <["x"=4]>
    func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2}, {}]>})

A `PartitionSpec` of JAX has whole axes only, so a caller cannot make or name such an array; it is resharded
at the boundary. Propagation removes sub-axes from open dimensions of inputs and outputs; what is in a
closed dimension stays.

Split the axis in the mesh, here into `"x0"=2` and `"x1"=2`, and use whole axes.
"""

from __future__ import annotations

from collections.abc import Iterator

from sdyopt.analysis.lint.program import boundary_annotations
from sdyopt.analysis.lint.rule import Finding, LintedPrograms, Looks, Rule, rule
from sdyopt.base.diagnostics.diagnostic import Severity
from sdyopt.mlir.dialects.sdy.axes import axis_ref_text
from sdyopt.mlir.error_help.table import text


@rule("sub-axis-boundary", Severity.WARNING, Looks.AS_READ)
class SubAxisBoundary(Rule):
    def check(self, programs: LintedPrograms) -> Iterator[Finding]:
        program = programs.as_read
        for annotation in boundary_annotations(program.entries):
            for number, dim in enumerate(annotation.sharding.dims):
                for axis in dim.axes:
                    if axis.sub_axis is not None:
                        name = axis_ref_text(axis)
                        yield Finding(
                            annotation.op,
                            f"dimension {number} of {annotation.what} is sharded along the sub-axis {name}, "
                            "which callers cannot name",
                            steps=(*annotation.steps, text(name)),
                            is_kept=True,
                        )
