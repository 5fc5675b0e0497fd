"""xla-sdy-round-trip-export-shardy-attrs: write the attributes of Shardy as text that HLO keeps.

    sdy.mesh @mesh = <["x"=2]>
    func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) …
becomes
    module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = #sdy.mesh<[\\22x\\22=2]>}"}} {
      sdy.mesh @mesh = <["x"=2]>
      func.func @main(%a: tensor<8xf32> {mhlo.frontend_attributes = {xla.sdy.sharding =
          "#sdy.sharding<@mesh, [{\\22x\\22}]>"}, sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) …

Shardings and meshes are kept, too: `xla-sdy-stablehlo-export-shardings` makes `mhlo.sharding` of them. The
sharding of a result is that of a new custom call of `@xla.sdy.FuncResultSharding` on the returned value,
because HLO has no attributes of results. Sharding rules are moved. With `enable-hlo-sharding-v3`, only
sharding rules are written: `mhlo.sharding` has the axes then. `xla-sdy-round-trip-import-shardy-attrs` is the
inverse.
"""

from __future__ import annotations

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.mesh import SHARDING, SHARDING_RULE
from sdyopt.mlir.dialects.sdy.mesh_op import MeshOp
from sdyopt.mlir.dialects.sdy.sharding import ShardingPerValue, TensorSharding
from sdyopt.mlir.dialects.stablehlo.custom_call import CustomCallOp
from sdyopt.mlir.ir.attribute import EMPTY_DICT, Attribute, dictionary, string
from sdyopt.mlir.ir.builtin_attributes import TRUE
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.pipeline import Pass
from sdyopt.mlir.registry import register
from sdyopt.shardy.notation.hlo_programs import FRONTEND_ATTRIBUTES, MESHES, ROUND_TRIP_SHARDING

from .round_trip_import_shardy_attrs import ENABLE_HLO_SHARDING_V3
from .support.hlo_shardings import RESULT_SHARDING_TARGET, ROUND_TRIP_RULE, with_frontend_attributes


@register("xla-sdy-round-trip-export-shardy-attrs")
class RoundTripExportShardyAttrs(Pass):
    enable_hlo_sharding_v3: bool = ENABLE_HLO_SHARDING_V3

    def run(self, module: ModuleOp) -> bool:
        rewriter = Rewriter()
        for function in module.block.ops:
            if isinstance(function, FuncOp) and not function.is_declaration:
                if not self.enable_hlo_sharding_v3:
                    _export_arguments(function, rewriter)
                    _export_results(function, rewriter)
                for op in list(function.walk_post_order()):
                    if op is not function:
                        _export_op(op, not self.enable_hlo_sharding_v3, rewriter)
        meshes = {op.sym_name: op.mesh for op in module.block.ops if isinstance(op, MeshOp)}
        if meshes and not self.enable_hlo_sharding_v3:
            new = with_frontend_attributes(module.attributes, {MESHES: dictionary(meshes)})
            rewriter.set_attributes(module, new)
        return rewriter.changed


def _export_arguments(function: FuncOp, rewriter: Rewriter) -> None:
    for index, attributes in enumerate(function.argument_attributes):
        sharding = attributes.get(SHARDING)
        if isinstance(sharding, TensorSharding):
            new = with_frontend_attributes(attributes, {ROUND_TRIP_SHARDING: sharding})
            rewriter.set_argument_attribute(function, index, FRONTEND_ATTRIBUTES, new[FRONTEND_ATTRIBUTES])


def _export_results(function: FuncOp, rewriter: Rewriter) -> None:
    # It may be unregistered, and have more operands than the function has results.
    terminator = function.body.blocks[-1].last
    assert terminator is not None
    for use in terminator.operand_uses[: len(function.result_attributes)]:
        sharding = function.result_attributes[use.index].get(SHARDING)
        if not isinstance(sharding, TensorSharding):
            continue
        frontend = with_frontend_attributes(EMPTY_DICT, {ROUND_TRIP_SHARDING: ShardingPerValue((sharding,))})
        call = rewriter.create(
            CustomCallOp,
            [use.value],
            [use.value.type],
            {
                **dict(frontend),
                "call_target_name": string(RESULT_SHARDING_TARGET),
                "has_side_effect": TRUE,
            },
            before=terminator,
            location=use.value.lazy_location,
        )
        rewriter.set_operand(use, call.results[0])


def _export_op(op: Op, exports_sharding: bool, rewriter: Rewriter) -> None:
    frontend: dict[str, Attribute] = {}
    sharding, rule = op.attributes.get(SHARDING), op.attributes.get(SHARDING_RULE)
    if exports_sharding and sharding is not None:
        frontend[ROUND_TRIP_SHARDING] = sharding
    if rule is not None:
        frontend[ROUND_TRIP_RULE] = rule
    if frontend:
        new = with_frontend_attributes(op.attributes, frontend)
        rewriter.set_attributes(op, new.without(SHARDING_RULE))
