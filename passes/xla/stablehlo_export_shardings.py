"""xla-sdy-stablehlo-export-shardings: write shardings as HLO has them, and remove meshes.

    sdy.mesh @mesh = <["x"=2, "y"=4]>
    %0 = stablehlo.add %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : tensor<8xf32>
becomes
    %0 = stablehlo.add %a, %b {mhlo.sharding = "{devices=[4,2]<=[2,4]T(1,0) last_tile_dim_replicate}"} : …

With `enable-hlo-sharding-v3`, shardings are by mesh axes: `{mesh['x'=2,'y'=4], [{'y'}]}`. In the body of a
manual computation, which `xla-sdy-stablehlo-round-trip-shard-map-export` marks, they are manual along the
axes of `xla.sdy.manual_axes`. The custom calls `@mhlo.topk` and `@mhlo.erf`, which become operations of HLO,
have the sharding in `mhlo.attributes`. `send`, `recv` and `create_token` without a sharding run on device 0.

With `add-missing-sharding-to-control-flow`, `while`, `case` and `if` without a sharding are replicated.
"""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.axes import ManualAxes
from sdyopt.mlir.dialects.sdy.mesh import SHARDING
from sdyopt.mlir.dialects.sdy.mesh_op import MeshOp, find_mesh, unknown_mesh
from sdyopt.mlir.dialects.sdy.sharding import ShardingPerValue, TensorSharding
from sdyopt.mlir.dialects.stablehlo.asynchronous import RecvOp, SendOp
from sdyopt.mlir.dialects.stablehlo.control_flow import CaseOp, IfOp, WhileOp
from sdyopt.mlir.dialects.stablehlo.custom_call import CustomCallOp
from sdyopt.mlir.dialects.stablehlo.nullary import CreateTokenOp
from sdyopt.mlir.ir.attribute import EMPTY_DICT, Attribute, DictAttr, string
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.pipeline import Pass, option
from sdyopt.mlir.registry import register
from sdyopt.shardy.notation.hlo_programs import XLA_SHARDING
from sdyopt.shardy.notation.sharding_on_mesh import IncompatibleSubAxes

from .round_trip_import_shardy_attrs import ENABLE_HLO_SHARDING_V3
from .support.hlo_shardings import MANUAL_AXES, hlo_text, tuple_text

_MHLO_ATTRIBUTES = "mhlo.attributes"
_TARGETS_OF_OPERATIONS = ("mhlo.erf", "mhlo.topk")
_FIRST_DEVICE = "{maximal device=0}"


@register("xla-sdy-stablehlo-export-shardings")
class StablehloExportShardings(Pass):
    add_missing_sharding_to_control_flow: bool = option(
        default=False, help="replicate the results of `while`, `case` and `if` without a sharding"
    )
    enable_hlo_sharding_v3: bool = ENABLE_HLO_SHARDING_V3

    def run(self, module: ModuleOp) -> bool:
        rewriter = Rewriter()
        texts = _Texts(module, self.enable_hlo_sharding_v3)
        replicated = "{mesh[], replicated}" if self.enable_hlo_sharding_v3 else "{replicated}"
        for function in module.block.ops:
            if not isinstance(function, FuncOp):
                continue
            texts.export(function, rewriter)
            for op in list(function.walk_post_order()):
                if op is not function:
                    self._export(op, texts, replicated, rewriter)
        for mesh in [op for op in module.block.ops if isinstance(op, MeshOp)]:
            rewriter.erase(mesh)
        return rewriter.changed

    def _export(self, op: Op, texts: _Texts, replicated: str, rewriter: Rewriter) -> None:
        manual = op.attributes.get(MANUAL_AXES)
        attributes = op.attributes.without(MANUAL_AXES)
        shardings = attributes.get(SHARDING)
        if isinstance(shardings, ShardingPerValue) and len(shardings):
            text: str | None = texts.of_op(op, tuple(shardings), manual)
            attributes = attributes.without(SHARDING)
        elif self.add_missing_sharding_to_control_flow and isinstance(op, WhileOp | CaseOp | IfOp):
            text = replicated
        elif XLA_SHARDING not in attributes and isinstance(op, SendOp | RecvOp | CreateTokenOp):
            text = _FIRST_DEVICE
        else:
            text = None
        if text is not None:
            attributes = _with_text(op, attributes, text)
        rewriter.set_attributes(op, attributes)


def _with_text(op: Op, attributes: DictAttr, text: str) -> DictAttr:
    if not isinstance(op, CustomCallOp) or op.call_target_name not in _TARGETS_OF_OPERATIONS:
        return attributes.with_entry(XLA_SHARDING, string(text))
    inner = attributes.get(_MHLO_ATTRIBUTES)
    inner = inner if isinstance(inner, DictAttr) else EMPTY_DICT
    return attributes.with_entry(_MHLO_ATTRIBUTES, inner.with_entry(XLA_SHARDING, string(text)))


class _Texts:
    """The texts of shardings. A program has few distinct ones."""

    def __init__(self, module: ModuleOp, is_by_axes: bool) -> None:
        self._module = module
        self._is_by_axes = is_by_axes
        self._texts: dict[tuple[TensorSharding, Attribute | None], str] = {}

    def of(self, op: Op, sharding: TensorSharding, manual: Attribute | None) -> str:
        text = self._texts.get((sharding, manual))
        if text is None:
            text = self._texts[sharding, manual] = self._new(op, sharding, manual)
        return text

    def of_op(self, op: Op, shardings: Sequence[TensorSharding], manual: Attribute | None) -> str:
        count = len(op.results)
        if len(shardings) != (count or 1):
            raise op.op_error(f"has {len(shardings)} shardings for {count} results")
        texts = [self.of(op, sharding, manual) for sharding in shardings]
        return texts[0] if count < 2 else tuple_text(texts)

    def _new(self, op: Op, sharding: TensorSharding, manual: Attribute | None) -> str:
        mesh = find_mesh(sharding.mesh_or_ref, self._module)
        if mesh is None:
            raise op.op_error(unknown_mesh(sharding.mesh_name or ""))
        names = manual.names if isinstance(manual, ManualAxes) else ()
        try:
            return hlo_text(sharding, mesh, names, self._is_by_axes)
        except IncompatibleSubAxes as problem:
            raise op.op_error(f"has a sharding that HLO has no form for: {problem}") from None

    def export(self, function: FuncOp, rewriter: Rewriter) -> None:
        for attributes, set_attribute in (
            (function.argument_attributes, rewriter.set_argument_attribute),
            (function.result_attributes, rewriter.set_result_attribute),
        ):
            for index, dictionary in enumerate(attributes):
                sharding = dictionary.get(SHARDING)
                if isinstance(sharding, TensorSharding):
                    text = self.of(function, sharding, dictionary.get(MANUAL_AXES))
                    set_attribute(function, index, MANUAL_AXES, None)
                    set_attribute(function, index, XLA_SHARDING, string(text))
                    set_attribute(function, index, SHARDING, None)
