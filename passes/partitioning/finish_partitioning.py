"""sdy-finish-partitioning: remove shardings of operations, set the number of devices, and mark the program.

    module {
      sdy.mesh @mesh = <["x"=2]>
      func.func @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> … {
        %0 = stablehlo.sine %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<4xf32>
becomes
    module attributes {mhlo.frontend_attributes = {sdyopt.partitioned = "true"},
                       mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
      sdy.mesh @mesh = <["x"=2]>
      func.func @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> … {
        %0 = stablehlo.sine %a : tensor<4xf32>

Run this pass after `sdy-convert-global-to-local`, when types are local. A runtime needs the number of
devices, and the shardings of inputs and outputs, so the shardings of functions stay. Those of operations, and
sharding rules, are removed, because they would be read as if types were global. The frontend attribute
`sdyopt.partitioned` tells reports and lint that they are local, which nothing else shows if devices do not
communicate. XLA compiles programs with frontend attributes of other tools, and keeps these.

With `replica-count` greater than 1, the devices are replicas instead of partitions.

The number of devices is that of the largest mesh. A smaller mesh of several devices gets a warning: the other
devices take no part in its collectives, so what they have of its values is not defined.
"""

from __future__ import annotations

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.sdy.mesh import SHARDING, SHARDING_RULE
from sdyopt.mlir.dialects.sdy.mesh_op import MeshOp
from sdyopt.mlir.dialects.sdy.value_shardings import IN_SHARDINGS
from sdyopt.mlir.ir.attribute import DictAttr
from sdyopt.mlir.ir.builtin_attributes import integer
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import I32
from sdyopt.mlir.pipeline import Pass, option
from sdyopt.mlir.registry import register
from sdyopt.shardy.notation.hlo_programs import FRONTEND_ATTRIBUTES, marked_as_partitioned
from sdyopt.shardy.partition.outlining import SHARDINGS_OF_MAIN


@register("sdy-finish-partitioning")
class FinishPartitioning(Pass):
    replica_count: int = option(default=1, help="number of replicas of the program")

    def run(self, module: ModuleOp) -> bool:
        rewriter = Rewriter()
        meshes = module.nested(MeshOp)
        devices = max((op.mesh.total_size for op in meshes), default=1)
        for mesh in meshes:
            if 1 < mesh.mesh.total_size < devices:
                mesh.warning(
                    f"has {mesh.mesh.total_size} of the program's {devices} devices: on the others, values "
                    "that are sharded on this mesh are not defined"
                )
        # Many operations have the same attributes.
        kept: dict[DictAttr, DictAttr] = {}
        for op in module.walk():
            attributes = op.attributes
            if attributes and attributes not in kept:
                kept[attributes] = attributes.without(SHARDING, SHARDING_RULE)
            if attributes and kept[attributes] is not attributes:
                rewriter.set_attributes(op, kept[attributes])
            if op.data_flow is not None:
                rewriter.remove_attribute(op, IN_SHARDINGS)
        is_replicated = self.replica_count > 1
        for name in SHARDINGS_OF_MAIN:
            # They are attributes of `@main`, too.
            rewriter.remove_attribute(module, name)
        for name, count in (
            ("mhlo.num_partitions", 1 if is_replicated else devices),
            ("mhlo.num_replicas", devices if is_replicated else 1),
        ):
            rewriter.set_attribute(module, name, integer(count, I32))
        rewriter.set_attribute(module, FRONTEND_ATTRIBUTES, marked_as_partitioned(module))
        return rewriter.changed
