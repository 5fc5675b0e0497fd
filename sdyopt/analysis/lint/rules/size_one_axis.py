"""size-one-axis: shardings name a mesh axis of size 1.

    sdy.mesh @mesh = <["data"=8, "model"=1]>
    func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>})

Along an axis of size 1 there is one shard, so nothing is sharded along it. This is usual where one model runs
on meshes of many shapes; otherwise the mesh has the wrong shape.

Allow the rule for such programs, or give the axis another size.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from sdyopt.analysis.lint.program import shardings_in
from sdyopt.analysis.lint.rule import Finding, LintedPrograms, Looks, Rule, rule
from sdyopt.base.diagnostics.diagnostic import Severity
from sdyopt.base.diagnostics.text import counted
from sdyopt.mlir.dialects.sdy.mesh_op import MeshOp
from sdyopt.mlir.error_help.table import text


@rule("size-one-axis", Severity.REMARK, Looks.AS_READ)
class SizeOneAxis(Rule):
    def check(self, programs: LintedPrograms) -> Iterator[Finding]:
        named: Counter[tuple[str | None, str]] = Counter()
        for sharding in shardings_in(programs.as_read.module):
            axes = {axis.name for dim in sharding.dims for axis in dim.axes}
            named.update((sharding.mesh_name, axis) for axis in axes)
        for op in programs.as_read.module.walk():
            if not isinstance(op, MeshOp):
                continue
            for axis in op.mesh.axes:
                count = named[op.sym_name, axis.name]
                if axis.size == 1 and count:
                    uses = "a sharding names" if count == 1 else f"{counted(count, 'sharding')} name"
                    yield Finding(
                        op,
                        f'axis "{axis.name}" of @{op.sym_name} has size 1: {uses} it, and nothing is sharded '
                        "along it",
                        "allow this rule if the mesh has axes for other machines",
                        steps=(text(f'"{axis.name}"'),),
                        is_kept=True,
                    )
