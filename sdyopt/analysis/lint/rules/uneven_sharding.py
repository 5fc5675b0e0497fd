"""uneven-sharding: a dimension is sharded along axes that do not divide it.

    sdy.mesh @mesh = <["x"=4]>
    func.func @main(%a: tensor<10x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})

Each shard has 3 rows; the last one has 1 of the 10 rows and 2 rows of padding, which take memory, compute
and wire bytes like the others. If the dimension is smaller than the number of shards, some devices have only
padding. JAX rejects such a sharding for the inputs and outputs of a function. At the boundary of a function,
the propagation pipeline drops the axes that do not divide the dimension, and so shards the value less than
its annotation.

Choose a size that the axes divide, such as a padded vocabulary, or shard another dimension.
"""

from __future__ import annotations

from collections.abc import Iterator

from sdyopt.analysis.lint.program import LocatedSharding, boundary_annotations, constraints
from sdyopt.analysis.lint.rule import Finding, LintedPrograms, Looks, Rule, rule
from sdyopt.base.diagnostics.diagnostic import Severity
from sdyopt.base.diagnostics.text import counted
from sdyopt.mlir.dialects.sdy.axes import axis_refs_text
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding
from sdyopt.mlir.error_help.table import brackets, item
from sdyopt.mlir.ir.types import DYNAMIC, RankedShapedType


@rule("uneven-sharding", Severity.WARNING, Looks.AS_READ)
class UnevenSharding(Rule):
    def check(self, programs: LintedPrograms) -> Iterator[Finding]:
        program = programs.as_read
        for annotation in (*boundary_annotations(program.entries), *constraints(program.module)):
            mesh = program.shapes.mesh(annotation.sharding.mesh_or_ref)
            if mesh is None or not isinstance(annotation.type, RankedShapedType):
                continue
            for number, (dim, size) in enumerate(
                zip(annotation.sharding.dims, annotation.type.shape, strict=False)
            ):
                if size not in (0, DYNAMIC) and size % dim.sharded_size(mesh):
                    yield _finding(annotation, number, dim, size, mesh)


def _finding(
    annotation: LocatedSharding, number: int, dim: DimensionSharding, size: int, mesh: Mesh
) -> Finding:
    shards = dim.sharded_size(mesh)
    rows = -(-size // shards)
    used = -(-size // rows)
    idle = (
        f"; {counted(shards - used, 'shard')} {'has' if shards - used == 1 else 'have'} nothing else"
        if used < shards
        else ""
    )
    axes = axis_refs_text(dim.axes)
    return Finding(
        annotation.op,
        f"dimension {number} of {annotation.what} has size {size}, which {axes} does not divide: "
        f"{shards} shards of size {rows} have {rows * shards - size} of padding{idle}",
        steps=(*annotation.steps, brackets("["), item(number)),
        is_kept=True,
    )
