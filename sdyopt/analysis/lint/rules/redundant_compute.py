"""redundant-compute: devices repeat a matrix product or convolution that they could share.

    sdy.mesh @mesh = <["data"=4, "model"=2]>
    %2 = stablehlo.dot_general %x, %w, … {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"data"}, {}]>]>}

Neither the operands nor the result are sharded along `"model"`, so the two devices along it compute the same
product. The finding has the number of FLOPs that each device computes beyond its equal share.

The rule shards the operands and the result along the axis, in copies of the program, and reports the product
if a device then computes less. If the product needs a value that is gathered, look for the constraint that
gathers it.

In a shard_map, a weight that is gathered along an axis is for a batch that is sharded along it. If no input
other than what the step returns has that axis, its devices compute the same; no change of this is tried.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from sdyopt.analysis.changes.effect import Measure
from sdyopt.analysis.changes.same_batch import SameBatch, same_batches
from sdyopt.analysis.figures.figures import Product
from sdyopt.analysis.figures.tensor_origins import TensorOrigins
from sdyopt.analysis.figures.totals import repeated_flops
from sdyopt.analysis.figures.units import flops_text, share_text
from sdyopt.analysis.lint.program import LintedProgram
from sdyopt.analysis.lint.rule import MIN_FLOPS, Finding, LintedPrograms, Looks, Rule, rule
from sdyopt.base.diagnostics.diagnostic import Severity
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import DYNAMIC


@rule("redundant-compute", Severity.WARNING, Looks.TRIALS)
class RedundantCompute(Rule):
    limits = MIN_FLOPS
    cost, unit, measures = "repeated", "flops", (Measure.FLOPS,)

    def check(self, programs: LintedPrograms) -> Iterator[Finding]:
        program = programs.with_collectives
        report = program.report
        if not report.is_sharded:
            return
        for op, product in program.products.items():
            repeated = repeated_flops(product, report.devices)
            axes = _useful_axes(op, product, program)
            if axes and repeated and repeated >= self.limit("min_flops"):
                names = ", ".join(f'"{axis}"' for axis in axes)
                assert product.flops is not None
                runs = 1 if product.times is None else product.times.high
                yield Finding(
                    op,
                    f"{product.kind} repeats {share_text(repeated / (product.flops * runs))} of its FLOPs, "
                    f"{flops_text(repeated)} per device: nothing of it is sharded along {names}",
                    cost=repeated,
                    proposals=programs.search.sharing(op, axes),
                )
        yield from self._in_shard_maps(program)

    def _in_shard_maps(self, program: LintedProgram) -> Iterator[Finding]:
        """Products with weights that are gathered along an axis, which no batch is sharded along."""
        repeated: dict[str, Fraction] = {}
        first: dict[str, tuple[Op, SameBatch]] = {}
        for batch in same_batches(program.module, TensorOrigins(program.counts)):
            for op in dict.fromkeys(batch.gather.results[0].users):
                product = program.products.get(op)
                if product is not None and product.flops is not None:
                    runs = 1 if product.times is None else product.times.high
                    share = 1 - Fraction(1, batch.size)
                    repeated[batch.axis] = (
                        repeated.get(batch.axis, Fraction(0)) + product.flops * runs * share
                    )
                    first.setdefault(batch.axis, (op, batch))
        for axis, (op, batch) in first.items():
            if repeated[axis] >= self.limit("min_flops"):
                yield Finding(
                    op,
                    f"{batch.reason}: products with {batch.weight} and other weights that are gathered along "
                    f"it repeat {flops_text(repeated[axis])} per device",
                    help=f"shard them as {batch.wanted}, in the in_specs, too: not tried, because the shapes "
                    "in the body change",
                    cost=repeated[axis],
                    is_kept=True,
                )


def _useful_axes(op: Op, product: Product, program: LintedProgram) -> list[str]:
    """The spare axes of a product that divide a dimension of its operands or result."""
    shapes = [program.shapes.shape(value) or () for value in (*op.operands[:2], op.results[0])]
    sizes = {size for shape in shapes for size in shape if size not in (0, DYNAMIC)}
    useful_axes = []
    manual = program.manual_axes(op)
    for name in product.spare_axes:
        axis_sizes = {axis.size for mesh in program.meshes for axis in mesh.axes if axis.name == name}
        if name not in manual and any(size % axis_size == 0 for axis_size in axis_sizes for size in sizes):
            useful_axes.append(name)
    return useful_axes
