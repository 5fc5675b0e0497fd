"""The shardings that JAX derives with explicit axes, and where it cannot.

With explicit axes, the sharding of a value is part of its type: `f32[8@data,16]`. JAX derives the types of
results from those of operands, and rejects a program where more than one sharding is possible, or where an
operation would have to reshard. There, a program states an `out_sharding`, or reshards an operand.

The backward pass needs nothing: JAX derives the shardings of gradients from those of values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod

from sdyopt.analysis.changes.axes import axes_of_product
from sdyopt.analysis.figures.execution_counts import entry_functions, functions_in
from sdyopt.analysis.figures.source_locations import (
    GRADIENTS,
    constraint_text,
    is_out_sharding,
    location_within,
)
from sdyopt.analysis.lint.explicit_axes.specs import (
    Spec,
    axes_text,
    conflict_of,
    reshaped,
    shape_of,
    shape_text,
    spec_text,
    without_repetition,
    written_spec,
)
from sdyopt.base.dataclasses import NamedTuple
from sdyopt.mlir.dialects.chlo.operations import TopKOp
from sdyopt.mlir.dialects.func import CallOp, FuncOp
from sdyopt.mlir.dialects.sdy.mesh import SHARDING
from sdyopt.mlir.dialects.sdy.mesh_op import MeshOp
from sdyopt.mlir.dialects.sdy.ops import ManualComputationOp, ShardingConstraintOp
from sdyopt.mlir.dialects.stablehlo.contraction import DotGeneralOp
from sdyopt.mlir.dialects.stablehlo.control_flow import CaseOp, IfOp, WhileOp
from sdyopt.mlir.dialects.stablehlo.convolution import ConvolutionOp
from sdyopt.mlir.dialects.stablehlo.gather import GatherOp
from sdyopt.mlir.dialects.stablehlo.reduction import ReduceWindowOp
from sdyopt.mlir.dialects.stablehlo.scatter import ScatterOp
from sdyopt.mlir.dialects.stablehlo.shapes import BroadcastInDimOp, ReshapeOp
from sdyopt.mlir.dialects.stablehlo.slicing import (
    ConcatenateOp,
    DynamicSliceOp,
    DynamicUpdateSliceOp,
    SliceOp,
)
from sdyopt.mlir.ir.block import Block
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.symbols import lookup_symbol
from sdyopt.mlir.ir.types import RankedTensor
from sdyopt.mlir.ir.value import BlockArgument, Value
from sdyopt.shardy.sharding.op_sharding_rule_builder import is_elementwise
from sdyopt.shardy.sharding.op_sharding_rule_registry import sharding_rule_of


class Need(NamedTuple):
    """What is to be written at an operation: `what` it is, what to `write`, and the reason."""

    op: Op
    what: str
    write: str
    reason: str


class ExplicitTyping:
    """The types of the values of a program, and what it needs."""

    def __init__(self, module: Op) -> None:
        self.needs: list[Need] = []
        meshes = [op.mesh for op in module.walk() if isinstance(op, MeshOp)]
        self._sizes = {axis.name: axis.size for mesh in meshes for axis in mesh.axes}
        self._specs: dict[Value, Spec] = {}
        self._calls: dict[tuple[FuncOp, tuple[Spec, ...]], list[Spec]] = {}
        for function in entry_functions(functions_in(module)):
            attributes = function.argument_attributes
            self._function(function, [written_spec(attribute.get(SHARDING)) for attribute in attributes])

    def spec(self, value: Value) -> Spec:
        """The sharding of a value: replicated, if nothing shards it."""
        rank = value.type.rank if isinstance(value.type, RankedTensor) else 0
        spec = self._specs.get(value, ((),) * rank)
        return spec if spec is None or len(spec) == rank else ((),) * rank

    # --- Functions and regions ------------------------------------------------------------------------

    def _function(self, function: FuncOp, arguments: Sequence[Spec]) -> list[Spec]:
        key = function, tuple(arguments)
        if key not in self._calls:
            self._calls[key] = []  # for recursion
            self._calls[key] = [] if function.is_declaration else self._block(function.entry, arguments)
        return self._calls[key]

    def _block(self, block: Block, arguments: Sequence[Spec]) -> list[Spec]:
        """The types of what a block returns, with these types of its arguments."""
        for value, spec in zip(block.arguments, arguments, strict=False):
            self._specs[value] = spec
        for op in block.ops:
            if not op.is_terminator:
                self._visit(op)
        last = block.terminator
        return [] if last is None else [self.spec(value) for value in last.operands]

    def _visit(self, op: Op) -> None:
        if location_within(op).phase in GRADIENTS:
            self._specs.update(dict.fromkeys(op.results))
            return
        typed = _TYPED.get(type(op), ExplicitTyping._by_rule)
        if is_elementwise(op.signature) and not isinstance(op, ShardingConstraintOp):
            typed = ExplicitTyping._elementwise
        for value, spec in zip(op.results, typed(self, op), strict=False):
            self._specs[value] = spec

    def _call(self, op: Op) -> list[Spec]:
        assert isinstance(op, CallOp)
        callee = lookup_symbol(op, op.callee)
        arguments = [self.spec(value) for value in op.operands]
        return self._function(callee, arguments) if isinstance(callee, FuncOp) else []

    def _while(self, op: Op) -> list[Spec]:
        assert isinstance(op, WhileOp)
        carried = [self.spec(value) for value in op.operands]
        before = len(self.needs)
        returned = self._block(op.body.blocks[0], carried)
        changed = [
            number
            for number, (old, new) in enumerate(zip(carried, returned, strict=False))
            if old is not None and new is not None and old != new
        ]
        if not changed:
            return carried
        block = op.body.blocks[0]
        for number in changed:
            start, carried[number] = carried[number], returned[number]
            # Whether a loop updates a part of a value that it carries, as a scan does with what its body
            # returns.
            last = block.terminator
            source = None if last is None else last.operand_at(number).defining_op
            # JAX calls a function that updates it.
            is_update = isinstance(source, DynamicUpdateSliceOp | CallOp)
            is_stacked = is_update and source is not None and source.operand_at(0) is block.arguments[number]
            if not is_stacked:
                self._need(
                    op,
                    "loop",
                    f"jax.reshard of what it starts from to {spec_text(returned[number])}",
                    f"it starts from {spec_text(start)}, and carries {spec_text(returned[number])} on",
                )
        # With these types, the body may need something else.
        kept = self.needs[before:]
        del self.needs[before:]
        self._block(op.body.blocks[0], carried)
        self.needs += [need for need in kept if need.op is op]
        return carried

    def _branches(self, op: Op) -> list[Spec]:
        branches: list[Spec] = []
        for region in op.regions:
            branches = branches or self._block(region.blocks[0], ())
        return branches

    def _manual(self, op: Op) -> list[Spec]:
        assert isinstance(op, ManualComputationOp)
        for value, sharding in zip(op.operands, op.in_shardings, strict=True):
            spec, wanted = self.spec(value), written_spec(sharding)
            if spec is not None and wanted is not None and spec != wanted:
                self._need(
                    op,
                    "shard_map",
                    f"jax.reshard of an argument to {spec_text(wanted)}",
                    f"in_specs differ from the sharding of the argument, {spec_text(spec)}",
                )
        return [written_spec(sharding) for sharding in op.out_shardings]

    # --- Operations ---------------------------------------------------------------------------------------

    def _constraint(self, op: Op) -> list[Spec]:
        assert isinstance(op, ShardingConstraintOp)
        spec, wanted = self.spec(op.input), written_spec(op.sharding)
        if spec is None or wanted is None:
            return [wanted]
        open_ones = [not dim.is_closed and not dim.axes for dim in op.sharding.dims]
        wanted = tuple(
            [old if is_open else new for old, new, is_open in zip(spec, wanted, open_ones, strict=True)]
        )
        if constraint_text(op) == "with_sharding_constraint" and spec != wanted and not is_out_sharding(op):
            self._need(
                op,
                "with_sharding_constraint",
                f"jax.reshard(…, {spec_text(wanted)}) in its place",
                f"the value is sharded {spec_text(spec)}, which a constraint on explicit axes only checks",
            )
        return [wanted]

    def _elementwise(self, op: Op) -> list[Spec]:
        known = [spec for value in op.operands if (spec := self.spec(value)) is not None and spec]
        shape = shape_of(op.results[0])
        names: list[tuple[str, ...]] = [()] * len(shape)
        used: set[str] = set()
        for spec in known:
            conflict = conflict_of(names, spec, used) if len(spec) == len(names) else ""
            if conflict:
                self._need(
                    op, _name(op), f"jax.reshard(…, {spec_text(tuple(names))}) of an operand", conflict
                )
                continue
            for dim, axes in enumerate(spec[: len(names)]):
                names[dim] = names[dim] or axes
                used.update(axes)
        is_unknown = not known and any(self.spec(value) is None for value in op.operands)
        return [None if is_unknown else tuple(names)] * len(op.results)

    def _dot(self, op: Op) -> list[Spec]:
        assert isinstance(op, DotGeneralOp)
        lhs, rhs = (self.spec(value) for value in op.operands[:2])
        if lhs is None or rhs is None:
            return [None]
        dims = op.dot_dimension_numbers
        batches, contracted = dims.batching, dims.contracting
        reasons = []
        if any(lhs[left] != rhs[right] for left, right in batches):
            reasons.append("the batch dimensions of its operands are sharded along different axes")
        if any(lhs[left] and rhs[right] for left, right in contracted):
            axes = dict.fromkeys(axis for left, right in contracted for axis in (*lhs[left], *rhs[right]))
            reasons.append(
                f"both operands are sharded along {axes_text(tuple(axes))} where it contracts them"
            )
        free = axes_of_product(lhs, rhs, dims)
        names = without_repetition(free)
        if names != free:
            reasons.append("an axis would shard two dimensions of its result")
        if reasons and "contracts" not in reasons[0]:
            self._need(
                op, _name(op), f"jax.reshard of an operand, or out_sharding={spec_text(names)}", reasons[0]
            )
        elif reasons:
            self._need(op, _name(op), f"out_sharding={spec_text(names)}", reasons[0])
        return [names]

    def _gather(self, op: Op) -> list[Spec]:
        assert isinstance(op, GatherOp)
        operand, indices = (self.spec(value) for value in op.operands[:2])
        if operand is None or indices is None:
            return [None]
        numbers = op.dimension_numbers
        indexed = [dim for dim in numbers.start_index_map if operand[dim]]
        batching = set(numbers.start_indices_batching_dims)
        by_index = [
            axes
            for dim, axes in enumerate(indices)
            if dim not in batching and dim != numbers.index_vector_dim
        ]
        names = self._by_factors(op)
        if indexed or any(by_index):
            reason = (
                f"it indexes a dimension that is sharded along {axes_text(operand[indexed[0]])}"
                if indexed
                else f"its indices are sharded along {axes_text(next(filter(None, by_index)))}"
            )
            self._need(op, "gather", f".at[…].get(out_sharding={spec_text(names)})", reason)
        return [names]

    def _scatter(self, op: Op) -> list[Spec]:
        assert isinstance(op, ScatterOp)
        specs = [self.spec(value) for value in op.operands]
        if any(spec is None for spec in specs):
            return [None] * len(op.results)
        operand, indices = specs[0], specs[len(op.results)]
        assert operand is not None and indices is not None
        numbers = op.scatter_dimension_numbers
        batching = set(numbers.scatter_indices_batching_dims)
        is_sharded = any(operand[dim] for dim in numbers.scatter_dims_to_operand_dims) or any(
            axes
            for dim, axes in enumerate(indices)
            if dim not in batching and dim != numbers.index_vector_dim
        )
        if is_sharded:
            self._need(
                op,
                "scatter",
                f".at[…].set(…, out_sharding={spec_text(operand)}), or add",
                "its indices, or the dimension that they index, are sharded",
            )
        return [operand] * len(op.results)

    def _reshape(self, op: Op) -> list[Spec]:
        spec, old, new = self.spec(op.operand_at(0)), shape_of(op.operand_at(0)), shape_of(op.results[0])
        if spec is None:
            return [None]
        sizes = self._sizes
        names, is_possible = reshaped(spec, old, new, sizes)
        if not is_possible:
            self._need(
                op,
                "reshape",
                f"out_sharding={spec_text(names)}",
                f"{shape_text(old, spec)} to {shape_text(new)} splits or merges sharded dimensions",
            )
        return [names]

    def _slice(self, op: Op) -> list[Spec]:
        spec, shape = self.spec(op.operand_at(0)), shape_of(op.results[0])
        if spec is None:
            return [None]
        sizes = self._sizes
        names = tuple(
            [
                axes if size % prod(sizes[axis] for axis in axes) == 0 else ()
                for axes, size in zip(spec, shape, strict=True)
            ]
        )
        if names != spec:
            lost = next(dim for dim, axes in enumerate(spec) if axes != names[dim])
            self._need(
                op,
                "slice",
                f"jax.reshard(…, {spec_text(names)}) of its operand",
                f"{shape[lost]} rows of dimension {lost}, which is sharded along {axes_text(spec[lost])}, "
                "cannot be sharded so",
            )
        return [names]

    def _update(self, op: Op) -> list[Spec]:
        operand, update = (self.spec(value) for value in op.operands[:2])
        if operand is None or update is None:
            return [operand]
        value = op.operand_at(0)
        if isinstance(value, BlockArgument) and not any(operand):
            # A scan stacks what its body returns.
            sizes = zip(shape_of(value), shape_of(op.operand_at(1)), update, strict=True)
            return [tuple([axes if size == part else () for size, part, axes in sizes])]
        if operand != update:
            self._need(
                op,
                "dynamic_update_slice",
                f"jax.reshard(…, {spec_text(operand)}) of the update",
                f"the update is sharded {spec_text(update)}, and its operand {spec_text(operand)}",
            )
        return [operand]

    def _concatenate(self, op: Op) -> list[Spec]:
        known = [spec for value in op.operands if (spec := self.spec(value)) is not None]
        if not known:
            return [None]
        # What is sharded more is kept.
        names = max(known, key=lambda spec: sum(map(bool, spec)))
        if any(spec != names for spec in known):
            self._need(
                op,
                "concatenate",
                f"jax.reshard(…, {spec_text(names)}) of an operand",
                "its operands are sharded along different axes",
            )
        return [names]

    def _convolution(self, op: Op) -> list[Spec]:
        names = self._by_factors(op)
        kernel = self.spec(op.operand_at(1))
        if names is not None and kernel is not None and any(kernel):
            self._need(
                op, "conv_general_dilated", f"out_sharding={spec_text(names)}", "its kernel is sharded"
            )
        return [names]

    def _broadcast(self, op: Op) -> list[Spec]:
        assert isinstance(op, BroadcastInDimOp)
        spec = self.spec(op.operand_at(0))
        if spec is None:
            return [None]
        old, new = shape_of(op.operand_at(0)), shape_of(op.results[0])
        names: list[tuple[str, ...]] = [()] * len(new)
        for dim, target in enumerate(op.broadcast_dimensions):
            names[target] = spec[dim] if old[dim] == new[target] else ()
        return [tuple(names)]

    def _top_k(self, op: Op) -> list[Spec]:
        spec = self.spec(op.operand_at(0))
        if spec is None:
            return [None, None]
        return [self._whole(op, len(spec) - 1)] * len(op.results)

    def _window(self, op: Op) -> list[Spec]:
        assert isinstance(op, ReduceWindowOp)
        sizes = op.window_dimensions
        wide = [dim for dim, size in enumerate(sizes) if size > 1]
        names = [self._whole(op, dim) for dim in wide]
        return [names[-1] if names else self.spec(op.operand_at(0))] * len(op.results)

    def _whole(self, op: Op, dim: int) -> Spec:
        """The type of an operand of which an operation needs all of a dimension."""
        value = op.operand_at(0)
        spec = self.spec(value)
        if spec is None or not spec[dim]:
            return spec
        whole = self._specs[value] = tuple(
            [() if number == dim else axes for number, axes in enumerate(spec)]
        )
        self._need(
            op,
            _name(op),
            f"jax.reshard(…, {spec_text(whole)}) of its operand",
            f"it needs all of dimension {dim}, which is sharded along {axes_text(spec[dim])}",
        )
        return whole

    def _by_rule(self, op: Op) -> list[Spec]:
        """The types by the sharding rule; what needs whole dimensions, as a sort, must not be sharded."""
        rule = sharding_rule_of(op) if op.operands else None
        if rule is None:
            return [((),) * len(shape_of(value)) for value in op.results]
        mapping = rule.operands[0]
        for dim, item in enumerate(mapping.dims):
            if any(factor in rule.need_replication for factor in item.factors):
                self._whole(op, dim)
        return [self._by_factors(op, number) for number in range(len(op.results))]

    def _by_factors(self, op: Op, result: int = 0) -> Spec:
        """The axes of the factors of a result, as the first operand with a factor has them."""
        rule = sharding_rule_of(op)
        specs = [self.spec(value) for value in op.operands]
        if rule is None or all(spec is None for spec in specs):
            return None if specs and rule is not None else ((),) * len(shape_of(op.results[result]))
        axes_of: dict[int, tuple[str, ...]] = {}
        for mapping, spec in zip(rule.operands, specs, strict=False):
            for dim, axes in zip(mapping.dims, spec or (), strict=False):
                if dim.factors and axes:
                    axes_of.setdefault(dim.factors[0], axes)
        dims = rule.results[result].dims
        return without_repetition([axes_of.get(dim.factors[0], ()) if dim.factors else () for dim in dims])

    # --- Helpers --------------------------------------------------------------------------------------------

    def _need(self, op: Op, what: str, write: str, reason: str) -> None:
        self.needs.append(Need(op, what, write, reason))


_TYPED: Mapping[type[Op], Callable[[ExplicitTyping, Op], list[Spec]]] = {
    CallOp: ExplicitTyping._call,
    WhileOp: ExplicitTyping._while,
    CaseOp: ExplicitTyping._branches,
    IfOp: ExplicitTyping._branches,
    ManualComputationOp: ExplicitTyping._manual,
    ShardingConstraintOp: ExplicitTyping._constraint,
    DotGeneralOp: ExplicitTyping._dot,
    GatherOp: ExplicitTyping._gather,
    ScatterOp: ExplicitTyping._scatter,
    ReshapeOp: ExplicitTyping._reshape,
    SliceOp: ExplicitTyping._slice,
    DynamicSliceOp: ExplicitTyping._slice,
    DynamicUpdateSliceOp: ExplicitTyping._update,
    ConcatenateOp: ExplicitTyping._concatenate,
    ConvolutionOp: ExplicitTyping._convolution,
    ReduceWindowOp: ExplicitTyping._window,
    TopKOp: ExplicitTyping._top_k,
    BroadcastInDimOp: ExplicitTyping._broadcast,
}


def _name(op: Op) -> str:
    return op.signature.name.partition(".")[2] or op.signature.name
