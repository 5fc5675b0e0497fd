"""xla-sdy-import-shardings: import shardings by devices, as GSPMD has them, on a mesh made for them.

    func.func @main(%a: tensor<8x8xf32> {mhlo.sharding = "{devices=[2,4]<=[8]}"},
                    %b: tensor<8xf32> {mhlo.sharding = "{devices=[2,4]<=[8] last_tile_dim_replicate}"}) …
becomes
    sdy.mesh @mesh = <["_axis_0"=2, "_axis_1"=4]>
    func.func @main(%a: tensor<8x8xf32> {sdy.sharding =
                        #sdy.sharding<@mesh, [{"_axis_0"}, {"_axis_1"}]>},
                    %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"_axis_0"}]>}) …

The mesh has an axis for each part that the shardings have in common. A sharding on a single device gets a
mesh `@maximal_mesh_{id}`. Shardings by mesh axes keep their mesh, inlined. Dimensions are closed, except
those of `{unknown}`. Shardings whose tiles have no common axes, or whose list of devices is no transposed
iota, are errors. Without a sharding by devices that is not replicated, the pass does nothing, as in XLA.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.mesh import SHARDING, Mesh, MeshAxis
from sdyopt.mlir.dialects.sdy.mesh_op import MeshOp
from sdyopt.mlir.dialects.sdy.sharding import ShardingPerValue, TensorSharding, fully_replicated
from sdyopt.mlir.dialects.sdy.value_shardings import rank_of
from sdyopt.mlir.ir.attribute import DictAttr, StringAttr, SymbolRef, string
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import InsertionPoint, Rewriter
from sdyopt.mlir.ir.types import Type
from sdyopt.mlir.pipeline import Pass
from sdyopt.mlir.registry import register
from sdyopt.shardy.notation.device_tiling import DeviceTiling, Maximal, Tiling, Unknown
from sdyopt.shardy.notation.gspmd import OPENING
from sdyopt.shardy.notation.hlo_programs import XLA_SHARDING
from sdyopt.shardy.notation.sharding_on_mesh import (
    AXIS_NAME,
    NotExpressible,
    sharding_on,
    sharding_on_new_mesh,
)

from ..common.support.call_graph import FreshNames
from .support.hlo_shardings import leaves, parse_tiling, sharding_by_axes


@register("xla-sdy-import-shardings")
class ImportShardings(Pass):
    def run(self, module: ModuleOp) -> bool:
        texts = dict(_texts(module))
        tilings = {text: parse_tiling(op, text) for text, op in texts.items() if OPENING.match(text) is None}
        mesh = _common_mesh(module, texts, tilings)
        devices = sorted({tiling.device for tiling in tilings.values() if isinstance(tiling, Maximal)})
        if not mesh.axes and not devices and len(tilings) == len(texts):
            return False
        rewriter = Rewriter()
        importer = _Importer(module, mesh, devices, tilings, rewriter)
        for function in module.block.ops:
            if isinstance(function, FuncOp):
                importer.import_function(function)
        return rewriter.changed


def _texts(module: ModuleOp) -> Iterator[tuple[str, Op]]:
    """The text of each sharding of a tensor, with an operation that has it."""
    for function in module.block.ops:
        if not isinstance(function, FuncOp):
            continue
        for attributes in (*function.argument_attributes, *function.result_attributes):
            yield from _texts_in(function, attributes)
        for op in function.walk_post_order():
            yield from _texts_in(op, op.attributes)


def _texts_in(op: Op, attributes: DictAttr) -> Iterator[tuple[str, Op]]:
    text = attributes.get(XLA_SHARDING)
    if isinstance(text, StringAttr):
        for leaf in leaves(text.value):
            yield leaf, op


# --- The mesh -------------------------------------------------------------------------------------


def _common_mesh(module: ModuleOp, texts: dict[str, Op], tilings: dict[str, Tiling]) -> Mesh:
    """The mesh whose axes are the parts that the tilings have in common; empty without tilings."""
    # The numbers of devices that the more minor axes have, for all boundaries between axes.
    minor: set[int] = set()
    total, first = 0, ""
    for text, tiling in tilings.items():
        if not isinstance(tiling, DeviceTiling):
            continue
        op = texts[text]
        sizes = _sizes(op, text, tiling)
        if total and tiling.device_count != total:
            message = f"sharding {text} has {tiling.device_count} devices, {first} has {total}"
            raise op.error(message)
        total, first = tiling.device_count, text
        count = 1
        for size in reversed(sizes):
            minor.add(count)
            count *= size
    bounds = [*sorted(minor, reverse=True)] if total else []
    axes: list[MeshAxis] = []
    above = total
    for bound in bounds:
        if above % bound:
            raise module.error(
                "the shardings have no common mesh: their axes have "
                f"{above} and {bound} devices, neither of which divides the other"
            )
        if above > bound:
            axes.append(MeshAxis(AXIS_NAME.format(len(axes)), above // bound))
        above = bound
    return Mesh(tuple(axes))


def _sizes(op: Op, text: str, tiling: DeviceTiling) -> list[int]:
    """The sizes of the axes of the mesh that a tiling alone would have, major to minor."""
    try:
        mesh = sharding_on_new_mesh(tiling, len(tiling.tiles)).mesh
    except NotExpressible as problem:
        raise op.error(f"sharding {text} has no mesh: {problem}") from None
    if mesh.device_ids:
        raise op.error(f"sharding {text} lists devices in an order that no mesh of iota has")
    return [axis.size for axis in mesh.axes]


# --- Shardings ------------------------------------------------------------------------------------


class _Importer:
    """Replaces `mhlo.sharding` by shardings on the new meshes."""

    def __init__(
        self,
        module: ModuleOp,
        mesh: Mesh,
        devices: Sequence[int],
        tilings: dict[str, Tiling],
        rewriter: Rewriter,
    ) -> None:
        self._mesh = mesh
        self._tilings = tilings
        self._rewriter = rewriter
        fresh = FreshNames(module)
        self._name = SymbolRef(fresh.take("mesh"))
        meshes = [(self._name, mesh)]
        self._names_of_devices: dict[int, SymbolRef] = {}
        for device in devices:
            name = self._names_of_devices[device] = SymbolRef(fresh.take(f"maximal_mesh_{device}"))
            meshes.append((name, Mesh((), (device,))))
        last: Op | None = None
        for name, listed in meshes:
            point: InsertionPoint = {"at_start_of": module.block} if last is None else {"after": last}
            attributes = {"sym_name": string(name.root), "mesh": listed}
            last = rewriter.create(MeshOp, (), (), attributes, location=module.lazy_location, **point)

    def import_function(self, function: FuncOp) -> None:
        types = function.function_type
        for attributes, values, set_attribute in (
            (function.argument_attributes, types.inputs, self._rewriter.set_argument_attribute),
            (function.result_attributes, types.results, self._rewriter.set_result_attribute),
        ):
            for index, type in enumerate(values):
                text = attributes[index].get(XLA_SHARDING)
                if isinstance(text, StringAttr):
                    sharding = self._sharding(function, text.value, rank_of(type))
                    set_attribute(function, index, XLA_SHARDING, None)
                    set_attribute(function, index, SHARDING, sharding)
        for op in list(function.walk_post_order()):
            text = op.attributes.get(XLA_SHARDING)
            if op is not function and isinstance(text, StringAttr):
                self._rewriter.remove_attribute(op, XLA_SHARDING)
                shardings = self._shardings(op, text.value, op.signature.result_types)
                self._rewriter.set_attribute(op, SHARDING, shardings)

    def _shardings(self, op: Op, text: str, types: Sequence[Type]) -> ShardingPerValue:
        texts = leaves(text)
        if not types:
            return ShardingPerValue((self._sharding(op, texts[0], 0),))
        if len(texts) != len(types):
            raise op.error(f"sharding {text} is for {len(texts)} values, not for {len(types)} results")
        pairs = zip(texts, types, strict=True)
        return ShardingPerValue(tuple([self._sharding(op, text, rank_of(type)) for text, type in pairs]))

    def _sharding(self, op: Op, text: str, rank: int) -> TensorSharding:
        tiling = self._tilings.get(text)
        if tiling is None:
            sharding = sharding_by_axes(op, text, rank)
            assert sharding is not None
            return sharding
        if isinstance(tiling, Maximal):
            return TensorSharding(self._names_of_devices[tiling.device])
        if not isinstance(tiling, DeviceTiling):
            return fully_replicated(rank, self._name, is_closed=not isinstance(tiling, Unknown))
        if len(tiling.tiles) != rank:
            raise op.error(f"sharding {text} is of a tensor of rank {len(tiling.tiles)}, not {rank}")
        try:
            return sharding_on(tiling, self._mesh, self._name, rank).sharding
        except NotExpressible as problem:
            raise op.error(f"sharding {text} has no form on the common mesh: {problem}") from None
