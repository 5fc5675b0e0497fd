"""unused-mesh-axis: no value is sharded along a mesh axis.

    sdy.mesh @mesh = <["data"=4, "model"=2]>
    func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {?}]>})

After propagation, no dimension of a value is sharded along `"model"`, and no computation is manual along it.
The two devices of each pair along it have the same data and do the same work.

The rule shards inputs along the axis, in copies of the program; the help has what saves most. If nothing
does, give the devices to another axis.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from sdyopt.analysis.changes.effect import Measure
from sdyopt.analysis.figures.collective_traffic import is_partitioned
from sdyopt.analysis.lint.program import LintedProgram, shardings_in
from sdyopt.analysis.lint.rule import Finding, LintedPrograms, Looks, Rule, rule
from sdyopt.base.diagnostics.diagnostic import Severity
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.mesh_op import MeshOp
from sdyopt.mlir.dialects.sdy.ops import ManualComputationOp
from sdyopt.mlir.error_help.table import text

# So many changes of inputs are tried.
_MAX_INPUTS = 16


@rule("unused-mesh-axis", Severity.WARNING, Looks.TRIALS)
class UnusedMeshAxis(Rule):
    measures = (Measure.FLOPS, Measure.MEMORY)

    def check(self, programs: LintedPrograms) -> Iterator[Finding]:
        program = programs.with_collectives
        if is_partitioned(program.module):
            return
        used, meshes = _used_axes(program)
        for op in program.module.walk():
            if not isinstance(op, MeshOp) or op.mesh not in meshes:
                continue
            for axis in op.mesh.axes:
                if axis.size > 1 and (axis.name, axis.size) not in used:
                    yield Finding(
                        op,
                        f'no value is sharded along axis "{axis.name}" of @{op.sym_name}: the {axis.size} '
                        "devices along it do the same work",
                        steps=(text(f'"{axis.name}"'),),
                        proposals=islice(programs.search.inputs_with_axis(axis.name), _MAX_INPUTS),
                        is_kept=True,
                    )


def _used_axes(program: LintedProgram) -> tuple[set[tuple[str, int]], set[Mesh]]:
    """The axes along which values are sharded or unreduced or computations are manual, and the meshes in use.

    An axis is its name and its size: meshes of the same axes may have other orders of devices.
    """
    used: set[tuple[str, int]] = set()
    meshes: set[Mesh] = set()
    for sharding in shardings_in(program.module):
        mesh = program.shapes.mesh(sharding.mesh_or_ref)
        if mesh is not None:
            meshes.add(mesh)
            names = [axis.name for dim in sharding.dims for axis in dim.axes]
            names += [axis.name for axis in sharding.unreduced_axes]
            # The verifier does not look at shardings in attributes of other names, which may name other axes.
            used |= {(name, mesh.axis_size(name)) for name in names if mesh.has_axis(name)}
    for op in program.module.walk():
        if isinstance(op, ManualComputationOp):
            for sharding in (*op.in_shardings, *op.out_shardings):
                mesh = program.shapes.mesh(sharding.mesh_or_ref)
                if mesh is not None:
                    used |= {(name, mesh.axis_size(name)) for name in op.manual_axes if mesh.has_axis(name)}
    return used, meshes
