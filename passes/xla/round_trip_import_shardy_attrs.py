"""xla-sdy-round-trip-import-shardy-attrs: import the attributes of Shardy that HLO keeps as text.

    module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = #sdy.mesh<[\\22x\\22=2]>}"}} {
      func.func @main(%a: tensor<8xf32> {mhlo.frontend_attributes =
            {xla.sdy.sharding = "#sdy.sharding<@mesh, [{\\22x\\22}]>"}}) …
becomes
    sdy.mesh @mesh = <["x"=2]>
    func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) …

HLO has no attributes of Shardy, so `xla-sdy-round-trip-export-pipeline` writes meshes, shardings and sharding
rules as text into frontend attributes. The sharding of a result is that of a custom call of
`@xla.sdy.FuncResultSharding`, which is removed; if the custom call has other uses than the return, because
its function has been inlined, it becomes a sharding constraint, with open dimensions.

With `enable-hlo-sharding-v3`, shardings are read from `mhlo.sharding`, which has mesh axes then. XLA writes
them so since version jaxlib-0.12.0.1. They get inlined meshes. The custom calls at the borders of manual
computations get the frontend attributes that they have without this option.

Shardings are read of arguments, results, custom calls of `@Sharding` and of Python callbacks, `send`, `recv`
and `after_all`. Those of other operations are dropped: XLA copies frontend attributes to operations that they
are not meant for.
"""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.base.dataclasses import dataclass
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.func import ReturnOp as FuncReturnOp
from sdyopt.mlir.dialects.sdy.axes import AxisRef, ManualAxes, sorted_and_merged
from sdyopt.mlir.dialects.sdy.mesh import SHARDING, SHARDING_RULE, Mesh
from sdyopt.mlir.dialects.sdy.mesh_op import MeshOp
from sdyopt.mlir.dialects.sdy.ops import ShardingConstraintOp
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule
from sdyopt.mlir.dialects.sdy.sharding import ShardingPerValue, TensorSharding
from sdyopt.mlir.dialects.stablehlo.asynchronous import InfeedOp, OutfeedOp, RecvOp, SendOp
from sdyopt.mlir.dialects.stablehlo.custom_call import CustomCallOp
from sdyopt.mlir.dialects.stablehlo.nullary import AfterAllOp
from sdyopt.mlir.ir.attribute import DictAttr, StringAttr, string
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.value import Value
from sdyopt.mlir.pipeline import Pass, option
from sdyopt.mlir.registry import register
from sdyopt.shardy.notation.hlo_programs import FRONTEND_ATTRIBUTES, MESHES, ROUND_TRIP_SHARDING, XLA_SHARDING
from sdyopt.shardy.partition.outlining import MAIN

from ..common.support.call_graph import FreshNames
from .support.hlo_shardings import (
    GLOBAL_TO_LOCAL_TARGET,
    IN_SHARDINGS,
    LOCAL_TO_GLOBAL_TARGET,
    MANUAL_AXES,
    OUT_SHARDINGS,
    RESULT_SHARDING_TARGET,
    ROUND_TRIP_RULE,
    SHARDING_TARGET,
    TUPLE_ARGUMENT_SHARDINGS,
    TUPLE_RESULT_SHARDINGS,
    is_python_callback,
    manual_axes_of,
    parsed_frontend_attribute,
    shardings_by_axes,
    with_frontend_attributes,
    without_frontend_attributes,
)

ENABLE_HLO_SHARDING_V3 = option(
    default=False, help="read and write shardings as `mhlo.sharding` by mesh axes (HLO sharding V3)"
)

_X64_COMBINE = "X64Combine"


@register("xla-sdy-round-trip-import-shardy-attrs")
class RoundTripImportShardyAttrs(Pass):
    enable_hlo_sharding_v3: bool = ENABLE_HLO_SHARDING_V3

    def run(self, module: ModuleOp) -> bool:
        rewriter = Rewriter()
        importer = _Importer(rewriter)
        if not self.enable_hlo_sharding_v3:
            importer.import_meshes(module)
        importer.import_tuple_shardings(module)
        for function in module.block.ops:
            if isinstance(function, FuncOp):
                if self.enable_hlo_sharding_v3:
                    importer.import_borders(function)
                    importer.import_by_axes(function)
                else:
                    importer.import_frontend_attributes(function)
        return rewriter.changed


# --- The module -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Importer:
    """The import of the attributes of a module."""

    rewriter: Rewriter

    def import_meshes(self, module: ModuleOp) -> None:
        meshes = parsed_frontend_attribute(module, module.attributes, MESHES, DictAttr)
        if meshes is None:
            return
        fresh = FreshNames(module)
        last: Op | None = None
        existing = {op.sym_name: op.mesh for op in module.block.ops if isinstance(op, MeshOp)}
        for name, mesh in meshes:
            if not isinstance(mesh, Mesh):
                raise module.error(f"frontend attribute `{MESHES}`: {name} is not a mesh")
            if existing.get(name) is mesh:
                continue
            attributes = {"sym_name": string(fresh.take(name)), "mesh": mesh}
            location = module.lazy_location
            if last is None:
                last = self.rewriter.create(
                    MeshOp, (), (), attributes, location=location, at_start_of=module.block
                )
            else:
                last = self.rewriter.create(MeshOp, (), (), attributes, location=location, after=last)
        self.rewriter.set_attributes(module, without_frontend_attributes(module.attributes, MESHES))

    def import_tuple_shardings(self, module: ModuleOp) -> None:
        """Imports the shardings that TensorFlow gives the arguments and results of the main function."""
        main = next((op for op in module.block.ops if isinstance(op, FuncOp) and op.sym_name == MAIN), None)
        if main is None:
            return
        for name, types, set_attribute in (
            (TUPLE_ARGUMENT_SHARDINGS, main.function_type.inputs, self.rewriter.set_argument_attribute),
            (TUPLE_RESULT_SHARDINGS, main.function_type.results, self.rewriter.set_result_attribute),
        ):
            shardings = parsed_frontend_attribute(module, module.attributes, name, ShardingPerValue)
            if shardings is None:
                continue
            if len(shardings) != len(types):
                raise main.error(
                    f"`{name}` has {len(shardings)} shardings, the function has {len(types)} values"
                )
            for index, sharding in enumerate(shardings):
                set_attribute(main, index, SHARDING, sharding)
            self.rewriter.set_attributes(module, without_frontend_attributes(module.attributes, name))

    def import_by_axes(self, function: FuncOp) -> None:
        types = function.function_type
        for attributes, values, set_attribute in (
            (function.argument_attributes, types.inputs, self.rewriter.set_argument_attribute),
            (function.result_attributes, types.results, self.rewriter.set_result_attribute),
        ):
            for index, type in enumerate(values):
                text = attributes[index].get(XLA_SHARDING)
                if not isinstance(text, StringAttr):
                    continue
                shardings = shardings_by_axes(function, text.value, [type])
                set_attribute(function, index, XLA_SHARDING, None)
                if shardings is not None:
                    set_attribute(function, index, SHARDING, shardings.shardings[0])
        for op in _body(function):
            if FRONTEND_ATTRIBUTES in op.attributes:
                self._import_rule(op)
            text = op.attributes.get(XLA_SHARDING)
            if not isinstance(text, StringAttr):
                continue
            if _keeps_sharding(op):
                shardings = shardings_by_axes(op, text.value, op.signature.result_types)
                if shardings is not None:
                    self.rewriter.set_attribute(op, SHARDING, shardings)
            self.rewriter.remove_attribute(op, XLA_SHARDING)

    def _import_rule(self, op: Op) -> None:
        rule = parsed_frontend_attribute(op, op.attributes, ROUND_TRIP_RULE, OpShardingRule)
        if rule is not None:
            self.rewriter.set_attribute(op, SHARDING_RULE, rule)
            self.rewriter.set_attributes(op, without_frontend_attributes(op.attributes, ROUND_TRIP_RULE))

    def import_borders(self, function: FuncOp) -> None:
        """Gives the custom calls at the borders of manual computations the attributes they have without V3.

        The sharding outside of an operand is that of a custom call of `@Sharding` before the border; that of
        a result is at the border. Shardings inside have the manual axes.
        """
        for op in function.nested(CustomCallOp):
            is_entry = op.call_target_name == GLOBAL_TO_LOCAL_TARGET
            if not is_entry and op.call_target_name != LOCAL_TO_GLOBAL_TARGET:
                continue
            inside = op if is_entry or not op.operands else op.operands[0].defining_op
            axes = None if inside is None else _manual_axes(inside)
            if axes is None:
                continue
            outside = self._outside_operands(op) if is_entry else _outside_results(op)
            shardings = ShardingPerValue(tuple([_replicated_along(sharding, axes) for sharding in outside]))
            name = IN_SHARDINGS if is_entry else OUT_SHARDINGS
            new = with_frontend_attributes(op.attributes, {name: shardings, MANUAL_AXES: axes})
            self.rewriter.set_attributes(op, new.without(XLA_SHARDING))

    def _outside_operands(self, op: CustomCallOp) -> list[TensorSharding]:
        """The shardings of the operands, from the custom calls of `@Sharding` before, which are removed."""
        parsed: list[TensorSharding] = []
        for use in op.operand_uses:
            call = use.value.defining_op
            text = None if call is None else call.attributes.get(XLA_SHARDING)
            if not isinstance(call, CustomCallOp) or not isinstance(text, StringAttr):
                raise op.op_error(f"operand #{use.index} has no sharding").help(
                    "the operands are custom calls of @Sharding, which have a sharding"
                )
            shardings = shardings_by_axes(call, text.value, [use.value.type])
            if shardings is None or call.call_target_name != SHARDING_TARGET:
                raise op.op_error(f"operand #{use.index} has no sharding by mesh axes")
            parsed += shardings
            self.rewriter.set_operand(use, call.operands[0])
            if not call.results[0].has_uses:
                self.rewriter.erase(call)
        return parsed

    def import_frontend_attributes(self, function: FuncOp) -> None:
        for index in range(len(function.function_type.inputs)):
            attributes = function.argument_attributes[index]
            sharding = parsed_frontend_attribute(function, attributes, ROUND_TRIP_SHARDING, TensorSharding)
            if sharding is not None:
                self.rewriter.set_argument_attribute(function, index, SHARDING, sharding)
                left = without_frontend_attributes(attributes, ROUND_TRIP_SHARDING).get(FRONTEND_ATTRIBUTES)
                self.rewriter.set_argument_attribute(function, index, FRONTEND_ATTRIBUTES, left)
            self.rewriter.set_argument_attribute(function, index, XLA_SHARDING, None)
        for index in range(len(function.function_type.results)):
            self.rewriter.set_result_attribute(function, index, XLA_SHARDING, None)
        for op in _body(function):
            if not isinstance(op, InfeedOp | OutfeedOp):
                self.rewriter.remove_attribute(op, XLA_SHARDING)
            if FRONTEND_ATTRIBUTES in op.attributes:
                self._import_rule(op)
                self._import_sharding(op, function)

    def _import_sharding(self, op: Op, function: FuncOp) -> None:
        is_result = isinstance(op, CustomCallOp) and op.call_target_name == RESULT_SHARDING_TARGET
        if is_result or _keeps_sharding(op):
            shardings = parsed_frontend_attribute(op, op.attributes, ROUND_TRIP_SHARDING, ShardingPerValue)
            if is_result:
                if shardings is None or not len(shardings):
                    raise op.op_error(f"has no frontend attribute `{ROUND_TRIP_SHARDING}`")
                self._import_result_sharding(op, function, shardings)
                return
            if shardings is not None:
                self.rewriter.set_attribute(op, SHARDING, shardings)
        self.rewriter.set_attributes(op, without_frontend_attributes(op.attributes, ROUND_TRIP_SHARDING))

    def _import_result_sharding(self, op: Op, function: FuncOp, shardings: ShardingPerValue) -> None:
        """Gives a sharding to the results that the returned value of a custom call is."""
        if len(op.operands) != len(op.results):
            raise op.op_error("must have as many results as operands")
        combination = _combination(op)
        values: Sequence[Value] = op.results
        if combination is not None:
            self.rewriter.set_attribute(combination, SHARDING, shardings)
            values = combination.results
        elif not any(result.has_uses for result in op.results):
            # A constant has replaced the operand and the result, which have no elements.
            defining = op.operands[0].defining_op if op.operands else None
            values = () if defining is None else defining.results
        sharding = shardings.shardings[0]
        has_other_uses = False
        for use in [use for value in values for use in value.uses]:
            user = use.owner
            if isinstance(user, FuncReturnOp):
                self.rewriter.set_result_attribute(function, use.index, SHARDING, sharding)
            elif user is not op and not _is_combination(user):
                has_other_uses = True
        if has_other_uses and combination is None:
            dims = [dim.opened() for dim in sharding.dims]
            constraint = self.rewriter.create(
                ShardingConstraintOp,
                op.operands,
                op.signature.result_types,
                {"sharding": sharding.with_dims(dims)},
                before=op,
                location=op.lazy_location,
            )
            self.rewriter.replace(op, constraint)
        else:
            self.rewriter.replace(op, op.operands)


# --- Shardings by mesh axes -----------------------------------------------------------------------


def _keeps_sharding(op: Op) -> bool:
    """Whether an operation has a sharding of the program, not only one that XLA has given it."""
    if isinstance(op, CustomCallOp):
        return op.call_target_name == SHARDING_TARGET or is_python_callback(op)
    return isinstance(op, SendOp | RecvOp | AfterAllOp)


def _body(function: FuncOp) -> Sequence[Op]:
    return [op for op in function.walk_post_order() if op is not function]


def _manual_axes(inside: Op) -> ManualAxes | None:
    """The manual axes in the sharding of a value of a body; None without such a sharding."""
    text = inside.attributes.get(XLA_SHARDING)
    return manual_axes_of(inside, text.value) if isinstance(text, StringAttr) else None


def _outside_results(op: CustomCallOp) -> list[TensorSharding]:
    text = op.attributes.get(XLA_SHARDING)
    shardings = (
        shardings_by_axes(op, text.value, op.signature.result_types) if isinstance(text, StringAttr) else None
    )
    if shardings is None:
        raise op.op_error("has no sharding by mesh axes")
    return list(shardings)


def _replicated_along(sharding: TensorSharding, axes: ManualAxes) -> TensorSharding:
    """The sharding, explicitly replicated along the manual axes that it does not mention."""
    mentioned = {axis.name for axis in sharding.axis_refs}
    mesh = sharding.mesh_or_ref
    if not isinstance(mesh, Mesh):
        return sharding
    missing = [AxisRef(axis.name) for axis in mesh.axes if axis.name in axes and axis.name not in mentioned]
    replicated = sorted_and_merged((*sharding.replicated_axes, *missing), mesh)
    return sharding.with_replicated_axes(replicated) if missing else sharding


# --- Frontend attributes --------------------------------------------------------------------------


def _combination(op: Op) -> CustomCallOp | None:
    """The custom call that combines both halves of 64-bit results, if they are used so only."""
    if len(op.results) != 2:
        return None
    users = [list(result.users) for result in op.results]
    if any(len(user) != 1 for user in users) or users[0][0] is not users[1][0]:
        return None
    user = users[0][0]
    return user if isinstance(user, CustomCallOp) and _is_combination(user) else None


def _is_combination(op: Op) -> bool:
    return isinstance(op, CustomCallOp) and op.call_target_name == _X64_COMBINE
